"""The ways to release a stage, tried and timed in one call; here with results made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmlab import measurements
from gemmlab.core.errors import MeasurementError
from gemmlab.experiments import releases
from gemmlab.experiments.faults.kernels import FAULTS

WRONG = f"08, {releases.EARLY}"


@pytest.fixture
def gpu(monkeypatch):
    """A GPU on which one of the ways is wrong, and each further kernel a TFLOP/s slower."""
    row = measurements.load(family="tma").bench().rows[0]

    def outcomes(names):
        found = [{"fault": name, "runs": 50, "wrong": 7 * (name == WRONG)} for name in names]
        return {"outcomes": found}

    def bench(kernels, sizes, precision):
        timed = [
            replace(row, kernel=one.title, tflops=600.0 - i, ratio=0.9)
            for i, one in enumerate(kernels)
        ]
        cublas = replace(row, kernel="cublas", ratio=None)
        return type("Result", (), {"rows": (cublas, *timed)})

    monkeypatch.setattr(releases.runs, "can_try", lambda: True)
    monkeypatch.setattr(releases.runs, "measure", outcomes)
    monkeypatch.setattr(releases, "bench", bench)
    monkeypatch.setattr(releases, "environment", lambda: {"gpu": "NVIDIA Made Up"})


def test_each_way_has_a_row_and_a_wrong_one_no_speed(gpu):
    table = releases.release_ways(2048)
    assert [row[0] for row in table.rows] == [
        "tma_04_producer_warp",
        *(f"04, {way}" for way in releases.WAYS),
        "tma_08_any_shape [64x64]",
        *(f"08, {way}" for way in releases.WAYS),
    ]
    assert [row[2] for row in table.rows] == ["600", "599", "598", "597", "600", "-", "599", "598"]
    by_name = {row[0]: row for row in table.rows}
    assert "wrong in 7 of 50 runs" in by_name[WRONG][1]
    assert "2048" in table.notes[0] and "Made Up" in table.notes[1]


def test_every_way_is_a_variant_of_each_step():
    assert {f"{number}, {way}" for number in releases.STEPS for way in releases.WAYS} <= {*FAULTS}


def test_without_a_gpu_the_recording_is_shown(gpu, monkeypatch):
    names = [f"{number}, {way}" for number in releases.STEPS for way in releases.WAYS]
    outcomes = releases.runs.measure(names)["outcomes"]
    data = {"outcomes": outcomes, "environment": {"gpu": "NVIDIA Made Up", "date": "2026-11-23"}}
    recorded = type("Recorded", (), {"section": lambda self, name: data})()
    monkeypatch.setattr(releases.runs, "can_try", lambda: False)
    monkeypatch.setattr(releases.measurements, "load", lambda family: recorded)
    assert {row[2] for row in releases.release_ways().rows} == {"-"}, "no speed was recorded"
    data["releases"] = releases.speeds(outcomes, 1024)
    table = releases.release_ways()
    assert [row[2] for row in table.rows] == ["600", "599", "598", "597", "600", "-", "599", "598"]
    assert "1024" in table.notes[0] and "Recorded on" in table.notes[1]


def test_without_a_gpu_and_a_recording_it_says_what_it_needs(monkeypatch):
    def missing(family):
        raise MeasurementError(f"no recorded run of {family}")

    monkeypatch.setattr(releases.runs, "can_try", lambda: False)
    monkeypatch.setattr(releases.measurements, "load", missing)
    with pytest.raises(MeasurementError, match="no recorded run of tma"):
        releases.release_ways()
