"""Cycles by a second build: taken if it is as fast as the timed one, else refused with a reason."""

from __future__ import annotations

import math
import types
from dataclasses import asdict

import pytest

from gemmlab.bench import cycles
from gemmlab.bench.cycles import AGREE, Counted, count
from gemmlab.core.errors import MeasurementError
from gemmlab.gpu.block_clock import Reading
from gemmlab.measurements.rows import NCU, BenchResult, BenchRow
from gemmlab.run.kernel import LaunchPlan

ENV = {"gpu": "NVIDIA H200", "sms": 132}


class Clock:
    """Stands for a BlockClock; each launch since the reset is a cycle more."""

    fails = ""

    def __init__(self, module) -> None:
        self.resets, self.reads = 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *what) -> None:
        self.closed = True

    def reset(self) -> None:
        self.resets += 1

    def read(self) -> Reading:
        if self.fails:
            raise MeasurementError(self.fails)
        self.reads += 1
        return Reading(1000.0 + self.reads, 1700.0)

    def of(self, call) -> Reading:
        call()
        return Reading(5.0, 1500.0)


class Timer:
    """A launch takes what its module says."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def time(self, launch, before=None) -> float:
        if before:
            before()
        self.log.append(launch.name)
        return launch.call.module.us

    def estimate(self, launch) -> float:
        return launch.call.module.us

    def rest(self, seconds: float) -> None:
        self.log.append("rest")

    def sustain(self, launch, seconds: float, time_us: float) -> None:
        self.log.append("sustain")


def module(us: float):
    return types.SimpleNamespace(us=us, launch=lambda *arguments: 0)


@pytest.fixture
def run(monkeypatch):
    """A function: how long the second build takes -> what is counted, and the timer."""
    monkeypatch.setattr(cycles, "BlockClock", Clock)

    def counted(us: float, mode: str = "interleaved") -> tuple[Counted, Timer]:
        timer, plan = Timer(), LaunchPlan("mine", "", module(100_000.0), ())
        return count(plan, module(us), timer, mode), timer

    return counted


@pytest.mark.parametrize("longer", [0.0, 0.9 * AGREE, -0.9 * AGREE])
def test_a_build_that_is_as_fast_is_believed(run, longer):
    found, timer = run(100_000.0 * (1 + longer))
    assert found == Counted(Reading(1006.5, 1700.0))  # the median of ten, behind a first one
    assert timer.log[:4] == ["timed", "second", "second", "timed"]


@pytest.mark.parametrize(("longer", "said"), [(0.02, "2.0% longer"), (-0.01, "1.0% shorter")])
def test_another_time_is_refused_and_said(run, longer, said):
    found, _ = run(100_000.0 * (1 + longer))
    assert found.reading is None and said in found.note


def test_in_other_modes_the_clock_is_read_there(run):
    found, timer = run(100_000.0, "sustained")
    assert found.reading == Reading(5.0, 1500.0) and timer.log[-1] == "sustain"
    _, timer = run(100_000.0, "burst")
    assert "rest" in timer.log
    assert timer.log.count("second") > timer.log.count("timed")


def test_what_does_not_build_or_read_says_why(run, monkeypatch):
    assert count(None, "it does not compile", Timer(), "interleaved").note == "it does not compile"
    monkeypatch.setattr(Clock, "fails", "too many blocks")
    assert run(100_000.0)[0] == Counted(None, "too many blocks")


def row(kernel: str = "sgemm_01_naive", **more) -> BenchRow:
    plain = {"tflops": 50.0, "ratio": 1.0, "flop_per_clk_sm": None, "clock_mhz": None}
    sizes = {"M": 4096, "N": 4096, "K": 4096, "time_us": 300.0, "spread": (299.0, 301.0)}
    return BenchRow(kernel, **{**sizes, **plain, "power_w": None, "samples": 9, **more})


def test_a_row_with_cycles_says_who_counted_them():
    ours = Counted(Reading(500_000.0, 1700.0)).into(row(), 132)
    assert ours.flop_per_clk_sm == pytest.approx(2 * 4096**3 / 500_000 / 132)
    assert ours.cycles_for(2 * 4096**3 / 132) == pytest.approx(500_000)
    assert math.isnan(row().cycles_for(1.0))
    theirs = row("cublas").counted(400_000.0, NCU, 132)
    text = repr(BenchResult((ours, theirs), "live", ENV).shown())
    assert "2082" in text and "2603 (ncu)" in text and "1700 MHz" in text
    assert "Nsight Compute" in text and "second build" in text


def test_a_refused_one_is_a_dash_with_its_reason():
    refused = Counted(None, "the build that counts cycles takes 2.0% longer").into(row(), 132)
    counted = row("cublas").counted(400_000.0, NCU, 132)
    text = repr(BenchResult((refused, counted), "live", ENV).shown())
    assert "No SM clock of sgemm_01_naive: the build that counts cycles takes 2.0% longer." in text


def test_without_cycles_there_are_no_columns_of_them():
    text = repr(BenchResult((row(),), "live", ENV).shown())
    assert "SM clock" not in text and "FLOP/clk/SM" not in text


def test_an_older_row_loses_the_clock_that_was_read_behind_its_launches():
    old = asdict(row(clock_mhz=1978.0, flop_per_clk_sm=1300.0))
    for name in ("cycles", "cycles_by", "clock_note", "layout"):
        del old[name]
    found = BenchRow.from_dict(old)
    assert (found.clock_mhz, found.flop_per_clk_sm) == (None, None)
    assert "read behind a launch" in repr(BenchResult((found,), "recorded", ENV).shown())
    new = row().counted(400_000.0, NCU, 132)
    assert BenchRow.from_dict(asdict(new)) == new
