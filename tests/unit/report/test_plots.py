"""Figures: the right numbers in words, light and dark, the same bytes every time."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from gemmlab import measurements
from gemmlab.core.errors import ArgumentError, MeasurementError, UnknownKernelError
from gemmlab.display.figure import DARK, LIGHT, NARROW, WIDE, Figure, spread
from gemmlab.measurements.rows import BenchResult, BenchRow
from gemmlab.measurements.store import Measurements
from gemmlab.report import plots
from gemmlab.report.plots import Point, Roof
from gemmlab.steps import registry

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
# The steps of whole numbers: 03b and 03c came between.
STEPS = [name for name in registry.names() if name.split("_")[1].isdigit()][:6]
RATES = (0.5, 4.4, 8.1, 36.0, 41.0, 43.1)


def result(source: str = "recorded") -> BenchResult:
    rows = []
    for size in (1024, 4096):
        for name, rate in zip((*STEPS, "cublas"), (*RATES, 51.3), strict=True):
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
                "environment": {**ENV, "sms": 132},
                "ffma_tflops": 65.2,
                "ffma_clock_mhz": 1980.0,
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
    alt = plots.ladder_chart(result()).alt
    assert "06 swizzled A 43.1" in alt
    assert "cuBLAS 51.3" in alt
    assert "84 % of cuBLAS" in alt
    assert "recorded on NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0" in alt
    assert "measured on" in plots.ladder_chart(result("live")).alt


def test_until_stops_the_ladder():
    alt = plots.ladder_chart(result(), until="sgemm_02_coalesced").alt
    assert "02 coalesced" in alt
    assert "03" not in alt


def test_the_drawn_text_carries_every_number_and_the_origin():
    figure = plots.ladder_chart(result(), highlight="sgemm_06_swizzled_a")
    svg = figure.svg()
    assert figure.origin in figure.alt
    assert "NVIDIA H200, 2026-11-22" in figure._repr_html_().partition("<figcaption>")[2]
    for text in ("43.1  (84 %)", "cuBLAS 51.3", "0.50  (1.0 %)"):
        assert text in svg


CHARTS = {
    "ladder": lambda: plots.ladder_chart(result()),
    "lines": lambda: plots.lines(result()),
    "roofline": lambda: plots.roofline(
        [Point("a_b", 4, 20)], level="l2", roofs=[Roof("F", 65, "TFLOP/s")]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("figure", CHARTS.values(), ids=CHARTS)
def test_a_figure_is_deterministic_takes_the_page_s_colours_and_has_a_fallback(figure):
    one, two = figure(), figure()
    assert one._repr_mimebundle_() == two._repr_mimebundle_()
    bundle = one._repr_mimebundle_()
    assert bundle["text/plain"] == one.alt == repr(one)
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    page = bundle["text/html"]
    assert re.findall(r'<svg class="([\w-]+)" role="img" aria-label="[^"]+"', page) == [
        "gl-wide",
        "gl-narrow",
    ]
    style, pictures = page.split("</style>")  # one: it would hold for the whole page
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]+"', "", pictures)
    for colour, dark in zip(LIGHT.colours(), DARK.colours(), strict=True):
        if f",{colour})" in pictures:
            name = re.search(rf"(--gl-c\d+),{colour}\)", pictures)[1]
            assert f"{name}:{colour}" in style and f"{name}:{dark}" in style
    assert set(re.findall(r"#[0-9a-f]{6}\b", pictures)) <= set(LIGHT.colours())
    wide, narrow = re.findall(r"<svg.*?</svg>", pictures, re.DOTALL)
    names = [set(re.findall(r' id="([^"]+)"', picture)) for picture in (wide, narrow)]
    assert not names[0] & names[1]
    ElementTree.fromstring(wide), ElementTree.fromstring(narrow)
    assert len(page) < 80_000


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
    assert "43.1" in plots.ladder_chart(recorded).alt
    assert "0.500" not in plots.lines(recorded, ["cublas"]).alt


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(MeasurementError, match="size: 512 was not recorded; there is 1024, 4096"):
        plots.ladder_chart(result(), size=512)
    with pytest.raises(UnknownKernelError, match="did you mean"):
        plots.ladder_chart(result(), until="naive")
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


# --- rooflines ------------------------------------------------------------------------------------

DRAM = Roof("DRAM", 0.896, "TB/s")
PEAK = Roof("fp32 peak", 43.9, "TFLOP/s")


def test_a_point_above_a_roof_is_found_and_its_distance_said():
    """Article 001 counts bytes that threads ask for, and holds them against DRAM's bandwidth."""
    naive = Point("001 kernel 01", 0.25, 2.05)
    (found,) = plots.over([naive], [DRAM, PEAK])
    assert found.allowed == pytest.approx(0.224)
    assert found.times == pytest.approx(2.05 / 0.224)
    figure = plots.roofline([naive], level="threads", roofs=[DRAM, PEAK])
    assert "9.15 times the 0.22 that the DRAM roof allows at 0.25 FLOP per byte" in figure.alt
    assert "9.15 times" in figure.svg()
    counted = Point("001 kernel 01", 18.33, 2.05)  # what ncu counts at DRAM
    assert plots.over([counted], [DRAM, PEAK]) == []
    assert "times" not in plots.roofline([counted], level="dram", roofs=[DRAM, PEAK]).svg()


def test_a_flat_roof_is_one_too():
    (found,) = plots.over([Point("a", 1000, 50)], [DRAM, PEAK])
    assert (found.roof, found.allowed) == (PEAK, 43.9)


def test_a_roof_of_a_level_holds_for_points_of_that_level_only():
    roofs = [Roof("L2", 1.0, "TB/s", "l2"), Roof("DRAM", 0.5, "TB/s", "dram"), PEAK]
    points = [Point("a", 2.0, 1.5, "l2"), Point("a", 2.0, 1.5, "dram")]
    (found,) = plots.over(points, roofs)
    assert (found.point, found.roof) == (points[1], roofs[1])
    alt = plots.roofline(points, level=["l2", "dram"], roofs=roofs).alt
    assert "a (L1 to L2) 2 at 1.50 TFLOP/s, a (DRAM) 2 at 1.50 TFLOP/s" in alt
    assert alt.count("Above a roof") == 1
    # In a figure of one level the roofs that are drawn are meant for every point.
    assert "Above a roof" in plots.roofline(points[:1], level="l2", roofs=roofs[1:]).alt


def test_a_kernel_stands_once_at_each_level_under_that_level_s_roof(recorded, monkeypatch):
    monkeypatch.setattr(plots.measurements, "load", lambda gpu=None: recorded)
    figure = plots.roofline(level=["threads", "l2", "dram"], kernels=["sgemm_06_swizzled_a"])
    for words in ("06 swizzled A (asked for)", "06 swizzled A (L1 to L2)", "06 swizzled A (DRAM)"):
        assert words in figure.alt
    assert "cuBLAS" not in figure.alt
    svg = figure.svg()
    for words in ("L1 33.5 TB/s (derived)", "L2 read 5.60 TB/s", "DRAM read 4.40 TB/s", "FFMA 65.2",
                  "● asked for"):  # fmt: skip
        assert words in svg, words
    assert "L1: 128 bytes per clock and SM, 132 SMs at 1980 MHz, not measured" in figure.alt
    with pytest.raises(MeasurementError, match=r"01_naive not recorded .*06_swizzled_a"):
        plots.roofline(level="dram", kernels=["sgemm_01_naive"])


def test_a_measured_roof_comes_before_a_derived_one(recorded):
    def l1(**probes):
        sections = {**recorded.sections}
        sections["probes"] = {**sections["probes"], **probes}
        loaded = Measurements("NVIDIA H200", sections)
        return plots.recorded_roofs(loaded, "threads", derived=True)[0]

    assert l1().derived.startswith("128 bytes per clock and SM")
    assert l1().value == pytest.approx(128 * 132 * 1980e6 / 1e12)
    assert l1(l1_read_tbs=31.0) == Roof("L1 read", 31.0, "TB/s", "threads")
    assert [roof.name for roof in plots.recorded_roofs(recorded, "threads")] == ["FFMA"]


def test_shared_memory_counts_wavefronts_of_128_bytes(recorded):
    swizzled = recorded.sections["counters"]["kernels"]["sgemm_06_swizzled_a"]
    swizzled |= {"shared_load_wavefronts": 98304, "shared_store_wavefronts": 8192}
    (point,) = plots.recorded_points(recorded, "shared")
    assert point.intensity == pytest.approx(2 * 256**3 / (128 * (98304 + 8192)))
    assert plots.recorded_roofs(recorded, "shared", derived=True)[0].name == "shared memory"


@pytest.mark.parametrize("level", ["threads", "shared", "l2", "dram"])
def test_no_recorded_kernel_stands_above_the_roof_of_its_own_level(level):
    loaded = measurements.load()
    points = plots.recorded_points(loaded, level)
    assert points
    assert plots.over(points, plots.recorded_roofs(loaded, level, derived=True)) == []


def test_the_coalesced_step_would_stand_above_dram_by_what_its_warps_ask_for():
    loaded = measurements.load()
    points = plots.recorded_points(loaded, "threads")
    (dram, _) = plots.recorded_roofs(loaded, "dram")
    above = plots.over(points, [Roof(dram.name, dram.value, dram.unit)])
    assert "sgemm_02_coalesced" in {one.point.name for one in above}


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("figure", CHARTS.values(), ids=CHARTS)
def test_text_is_13_pixels_at_least_and_stays_inside(figure, width):
    svg = ElementTree.fromstring(figure().svg(width=width))
    across, down = (float(svg.get(side).removesuffix("pt")) for side in ("width", "height"))
    assert across == 72 * width  # what a page shows at its own size
    sizes = re.findall(r"font-size: ([\d.]+)px", ElementTree.tostring(svg).decode())
    assert sizes and min(map(float, sizes)) * 4 / 3 >= 13
    assert down < 2 * across or len(registry.names()) > 20


def test_the_commits_of_an_origin_are_behind_a_word():
    recorded = "recorded on a GPU, driver 580.1, commit 12ab34c (sgemm_01), commit 00ff00f; shares"
    page = Figure(CHARTS["ladder"]()._draw, "words", recorded)._repr_html_()
    assert "<figcaption>Recorded on a GPU, driver 580.1; shares. <details>" in page
    assert "</summary> 12ab34c (sgemm_01), 00ff00f</details>" in page
    assert "figcaption>" not in Figure(CHARTS["ladder"]()._draw, "words")._repr_html_()


def test_no_more_than_five_lines_have_a_colour():
    source = result()
    svg = plots.lines(source).svg()
    named = re.findall(r'<text [^>]*fill: (#\w{6})"[^>]*>(0\d [^<]*)</text>', svg)
    assert len(named) == 6
    assert [name for colour, name in named if colour == LIGHT.quiet] == ["01 naive"]


def test_many_kernels_are_told_apart_by_their_numbers():
    roofs = [Roof("L2", 5.0, "TB/s"), Roof("FFMA", 65.0, "TFLOP/s")]
    few = [Point(f"sgemm_{n:02}_step", 30.0, 20.0 + n) for n in range(1, 9)]
    assert "01 step" in plots.roofline(few, level="l2", roofs=roofs).svg()
    many = [*few, Point("sgemm_09_slow", 3.0, 0.5), Point("cublas", 40.0, 50.0)]
    svg = plots.roofline(many, level="l2", roofs=roofs).svg()
    assert "01 step" not in svg
    labels = re.findall(r">((?:0\d|cuBLAS)(?:, (?:0\d|cuBLAS))*)</text>", svg)
    named = [name for label in labels for name in label.split(", ")]
    assert sorted(named) == [*(f"{n:02}" for n in range(1, 10)), "cuBLAS"]
    assert "09" in labels  # alone where it stands
