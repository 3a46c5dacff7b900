"""Ladders of recorded steps: one run, or two of which the second goes on; and the whole walk."""

from __future__ import annotations

from dataclasses import replace

import pytest

import gemmlab as lab
from gemmlab import measurements
from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.measurements.rows import BenchResult, BenchRow
from gemmlab.measurements.store import Measurements
from gemmlab.report import ladder as ladders
from gemmlab.report import plots
from gemmlab.steps import registry

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
STAGES, ANY = "hgemm_17_stages", "hgemm_20_any_shape"
TMA = ("tma_01_load", "tma_02_two_blocks", "tma_07_any_shape")


def rows(rates: dict[str, float], precision: str) -> tuple[BenchRow, ...]:
    """At 1024 and 4096; cuBLAS last, which ratios are to."""
    *_, cublas = rates.values()
    return tuple(
        BenchRow(
            *(name, size, size, size, 9.0, (9.0, 9.0), rate, rate / cublas, 9.0, 1980.0, None, 50),
            precision=precision,
        )
        for size in (1024, 4096)
        for name, rate in rates.items()
    )


def save(family: str, commit: str, rates: dict[str, float], precision: str = "bf16") -> None:
    env = {**ENV, "commit": commit}
    data = BenchResult(rows(rates, precision), "recorded", env).to_dict()
    sections = {"benchmark": {"environment": env, **data}}
    measurements.save(Measurements("NVIDIA H200", sections, family))


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Recordings of three parts; Part III's has one of Part II's steps beside its own."""
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    for name in TMA:
        spec = replace(registry.get(STAGES), name=name, file=f"tma/{name[4:]}.cuh")
        monkeypatch.setitem(registry._BY_NAME, name, spec)
    save("sgemm", "aaa", {"sgemm_01_naive": 0.5, "sgemm_02_coalesced": 5, "cublas": 50}, "fp32")
    save("hgemm", "bbb", {STAGES: 350, ANY: 490, "cublas": 700})
    save("tma", "ccc", {STAGES: 360, **dict(zip(TMA, (400, 440, 600), strict=True)), "cublas": 800})
    return tmp_path


def test_a_ladder_of_one_run_is_that_run(recorded):
    found = ladders.recorded("hgemm")
    assert [row.kernel for row in found.rows][:3] == [STAGES, ANY, "cublas"]
    assert found.origin == "NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0, commit bbb"
    assert found.label(STAGES) == "17 stages"


def test_a_part_that_goes_on_stands_behind_the_one_before_it(recorded):
    found = ladders.recorded("tma")
    at = [row for row in found.rows if row.size == "4096"]
    assert [row.kernel for row in at] == [STAGES, ANY, *TMA, "cublas"]
    assert [row.ratio for row in at] == [0.5, 0.7, 0.5, 0.55, 0.75, 1.0]
    assert at[0].tflops == 350 and at[-1].tflops == 800
    assert found.label(STAGES) == "17 stages" and found.label(TMA[1]) == "TMA 02 two blocks"
    assert (
        "CUDA 13.0, commit bbb (hgemm_17 to hgemm_20), commit ccc (tma_01 to tma_07); shares"
        in (found.origin)
    )


def test_the_widget_shows_shares_and_names_both_runs(recorded):
    text = lab.ladder(until=TMA[1]).summary()
    assert text.startswith(
        "of cuBLAS at 4096: 17 stages 50 %, 20 any shape 70 %, TMA 01 load 50 %, "
        "TMA 02 two blocks 55 %, cuBLAS 100 %. recorded on NVIDIA H200"
    )
    assert "commit bbb" in text and "commit ccc" in text
    assert lab.ladder(until=TMA[1], metric="tflops", size=1024).summary().count("TFLOP/s") == 1
    assert lab.ladder(until=STAGES).summary().startswith("TFLOP/s at 4096: 17 stages 350, cuBLAS ")
    with pytest.raises(ArgumentError, match="size: got '512'"):
        lab.ladder(until=TMA[0], size=512)


def test_the_figure_shows_shares_and_names_both_runs(recorded):
    figure = plots.ladder_chart(until=TMA[1])
    assert (
        "17 stages 350, 20 any shape 490, TMA 01 load 400, TMA 02 two blocks 440; cuBLAS 800"
        in (figure.alt)
    )
    assert "commit bbb (hgemm_17 to hgemm_20), commit ccc" in figure.alt
    svg = figure.svg()
    assert "350  (50 %)" in svg and "cuBLAS = 1" in svg and "TMA 01 load" in svg
    one = plots.ladder_chart(until=ANY)
    assert "cuBLAS 700" in one.alt and "commit ccc" not in one.alt
    assert "TFLOP/s at M = N = K = 4096 (share of cuBLAS)" in one.svg()


def test_without_the_second_run_the_ladder_says_how_to_record_it(recorded):
    (recorded / "book" / "measurements" / "h200_tma.json").unlink()
    for ladder in (lab.ladder, plots.ladder_chart):
        with pytest.raises(
            MeasurementError, match="no recorded run of tma; `python -m gemmlab rec"
        ):
            ladder(until=TMA[0])
        ladder(until=STAGES)


def test_the_walk_has_every_part_against_its_own_cublas(recorded):
    figure = lab.plots.walk()
    assert "Part I, fp32: 01 naive 1.0 %, 02 coalesced 10 %. " in figure.alt
    assert "tensor cores: 17 stages 50 %, 20 any shape 70 %. Part III, TMA: 01 load 50 %" in (
        figure.alt
    )
    assert "M = N = K = 4096, recorded on NVIDIA H200" in figure.alt
    assert "commit aaa, commit bbb, commit ccc" in figure.alt
    assert "Part III" in figure.svg() and "75 %" in figure.svg()
    assert figure._repr_mimebundle_() == lab.plots.walk()._repr_mimebundle_()
    with pytest.raises(MeasurementError, match="size: 512 was not recorded; there is 1024"):
        lab.plots.walk(512)


def test_the_walk_leaves_out_a_part_that_was_not_recorded(recorded):
    files = recorded / "book" / "measurements"
    (files / "h200_tma.json").unlink()
    assert "Part III" not in lab.plots.walk().alt
    for path in files.glob("*.json"):
        path.unlink()
    with pytest.raises(MeasurementError, match="no recorded run of sgemm"):
        lab.plots.walk()


def test_recordings_that_share_their_origin_say_it_once():
    commit = [{**ENV, "commit": name} for name in ("aaa", "bbb")]
    there = "NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0"
    assert measurements.origins(commit[:1]) == measurements.origin(commit[0])
    assert measurements.origins(commit[:1] * 2) == f"{there}, commit aaa"
    assert measurements.origins(commit) == f"{there}, commit aaa, commit bbb"
    assert measurements.origins([ENV, ENV]) == there
    other = {**commit[1], "driver": "590"}
    assert measurements.origins([commit[0], other], "xy") == (
        f"{there}, commit aaa (x); NVIDIA H200, 2026-11-22, driver 590, CUDA 13.0, commit bbb (y)"
    )
