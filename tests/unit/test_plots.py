"""Figures: the right numbers in words, light and dark, the same bytes every time."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from gemmlab import plots, registry
from gemmlab.errors import ArgumentError, MeasurementError, UnknownKernelError
from gemmlab.figure import DARK, LIGHT, spread
from gemmlab.measurements import Measurements
from gemmlab.plots import Point, Roof
from gemmlab.results import BenchResult, BenchRow

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
RATES = (0.5, 4.4, 8.1, 36.0, 41.0, 43.1)


def result(source: str = "recorded") -> BenchResult:
    rows = []
    for size in (1024, 4096):
        for name, rate in zip((*registry.names(), "cublas"), (*RATES, 51.3), strict=True):
            us = 2 * size**3 / rate / 1e6
            rows.append(
                BenchRow(
                    name, size, size, size, us, (us, us), rate, rate / 51.3, 9.0, 1980.0, None, 50
                )
            )
    return BenchResult(tuple(rows), source, ENV)


@pytest.fixture
def recorded() -> Measurements:
    swizzled = "sgemm_06_swizzled_a"
    return Measurements(
        "NVIDIA H200",
        {
            "benchmark": {"environment": ENV, **result().to_dict()},
            "probes": {
                "environment": ENV,
                "ffma_tflops": 65.2,
                "l2_read_tbs": 5.6,
                "dram_read_tbs": 4.4,
            },
            "counters": {
                "environment": ENV,
                "size": 256,
                "kernels": {
                    swizzled: {"thread_load_bytes": 1 << 20, "thread_store_bytes": 1 << 18}
                },
            },
            "traffic": {
                "environment": ENV,
                "size": 4096,
                "kernels": {
                    swizzled: {
                        "l2_read_sectors": 1 << 27,
                        "l2_write_sectors": 1 << 21,
                        "dram_read_bytes": 1 << 30,
                        "dram_write_bytes": 1 << 26,
                    },
                    "cublas": {"dram_read_bytes": 1 << 29, "dram_write_bytes": 1 << 26},
                },
            },
        },
    )


def test_the_ladder_in_words():
    alt = plots.ladder(result()).alt
    assert "06 swizzled A 43.1" in alt
    assert "cuBLAS 51.3" in alt
    assert "84 % of cuBLAS" in alt
    assert "recorded on NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0" in alt
    assert "measured on" in plots.ladder(result("live")).alt


def test_until_stops_the_ladder():
    alt = plots.ladder(result(), until="sgemm_02_coalesced").alt
    assert "02 coalesced" in alt
    assert "03" not in alt


def test_the_drawn_text_carries_every_number_and_the_origin():
    svg = plots.ladder(result(), highlight="sgemm_06_swizzled_a").svg()
    for text in ("43.1  (84 %)", "cuBLAS 51.3", "0.50  (1.0 %)", "NVIDIA H200", "2026-11-22"):
        assert text in svg


@pytest.mark.parametrize(
    "figure",
    [
        lambda: plots.ladder(result()),
        lambda: plots.lines(result()),
        lambda: plots.roofline([Point("a_b", 4, 20)], level="l2", roofs=[Roof("F", 65, "TFLOP/s")]),
    ],
    ids=["ladder", "lines", "roofline"],
)
def test_a_figure_is_deterministic_light_and_dark_and_has_a_fallback(figure):
    one, two = figure(), figure()
    assert one._repr_mimebundle_() == two._repr_mimebundle_()
    bundle = one._repr_mimebundle_()
    assert bundle["text/plain"] == one.alt == repr(one)
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    page = bundle["text/html"]
    pictures = re.findall(r'<img class="(only-\w+)" alt="([^"]+)" src="data:image/svg\+xml', page)
    assert [name for name, _ in pictures] == ["only-light", "only-dark"]
    assert "http" not in re.sub(r"base64,[^\"]+", "", page)
    for theme in (LIGHT, DARK):
        assert theme.text in one.svg(theme)
        ElementTree.fromstring(one.svg(theme))
    assert len(page) < 150_000


def test_the_roofline_names_its_traffic():
    points, roofs = [Point("sgemm_01_naive", 0.25, 0.5)], [Roof("FFMA", 65.2, "TFLOP/s")]
    for level, words in plots.LEVELS.items():
        figure = plots.roofline(points, level=level, roofs=roofs)
        assert words in figure.alt
        assert words in figure.svg()
    with pytest.raises(ArgumentError, match="threads, l2, dram"):
        plots.roofline(points, level="memory", roofs=roofs)
    with pytest.raises(ArgumentError, match="at least one"):
        plots.roofline([], level="l2", roofs=roofs)


def test_recorded_points_count_each_level_in_its_own_unit(recorded):
    work = 2 * 4096**3
    (point,) = plots.recorded_points(recorded, "l2")
    assert point.intensity == pytest.approx(work / (32 * ((1 << 27) + (1 << 21))))
    dram = {p.name: p.intensity for p in plots.recorded_points(recorded, "dram")}
    assert dram["cublas"] == pytest.approx(work / ((1 << 29) + (1 << 26)))
    (point,) = plots.recorded_points(recorded, "threads")
    assert point.intensity == pytest.approx(work / ((1 << 20) * 16**3 + (1 << 18) * 16**2))
    assert point.tflops == 43.1
    assert [roof.name for roof in plots.recorded_roofs(recorded, "dram")] == ["DRAM read", "FFMA"]


def test_a_recorded_file_can_be_drawn_directly(recorded):
    assert "43.1" in plots.ladder(recorded).alt
    assert "0.500" not in plots.lines(recorded, ["cublas"]).alt


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(MeasurementError, match="at 512"):
        plots.ladder(result(), size=512)
    with pytest.raises(UnknownKernelError, match="did you mean"):
        plots.ladder(result(), until="naive")
    with pytest.raises(ArgumentError, match="tflops, ratio"):
        plots.lines(result(), metric="speed")
    with pytest.raises(MeasurementError, match="sgemm_09"):
        plots.lines(result(), ["sgemm_09"])


def test_labels_are_moved_apart_and_stay_below_the_top():
    moved = spread([1.0, 1.01, 1.02, 5.0], 0.1)
    ordered = sorted(moved)
    assert all(b - a > 0.0999 for a, b in pairwise(ordered))
    assert moved[3] == 5.0
    assert max(spread([1.0, 1.0, 1.0], 0.1, top=1.0)) <= 1.0
