"""lab.estimate: what a kernel asks of each pipe, and the time that follows."""

from __future__ import annotations

from dataclasses import asdict, replace

import needs
import pytest

from gemmlab.bench.estimate import calibration, estimate
from gemmlab.bench.estimate.features import work_of
from gemmlab.bench.estimate.model import Constants, Work, pipes, time_us
from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.run.kernel import kernel, variant

WORK = Work(
    tile=(128, 128, 16),
    threads=256,
    resident=2,
    tensor="",
    overlapped=False,
    even=False,
    wavefronts=0.006,
    l1_cycles=0.001,
    requests=0.002,
    sectors=0.002,
)
CUBE = (4096, 4096, 4096)


def test_the_slowest_pipe_is_a_floor():
    cycles = max(pipes(WORK, Constants()).values()) * 4096**3 / 132
    assert time_us(WORK, CUBE, Constants()) > cycles / 1.98e3


@pytest.mark.parametrize("what", ["wavefronts", "l1_cycles", "requests"])
def test_more_of_a_pipe_never_takes_less_time(what):
    before = time_us(WORK, CUBE, Constants())
    more = replace(WORK, **{what: 20 * getattr(WORK, what)})
    assert time_us(more, CUBE, Constants()) > before


def test_loads_behind_the_products_take_less_time():
    assert time_us(replace(WORK, overlapped=True), CUBE, Constants()) < time_us(
        WORK, CUBE, Constants()
    )


def test_the_last_wave_counts():
    """132 SMs hold 264 blocks of 128x128: one block more is nearly a wave more."""
    rows = 128 * 264
    one, more = (time_us(WORK, (rows + extra, 128, 4096), Constants()) for extra in (0, 128))
    assert 1.3 < more / one < 2.1


def test_estimates_of_recorded_steps_hold():
    known = calibration.load()
    assert known.within(0.25) >= 0.8
    low, high = known.spread()
    assert low < 1 < high


def test_errors_are_of_constants_fitted_without_the_step():
    known = calibration.load()
    times = {key: time for key, time in calibration.measured().items() if key[0] in known.works}
    name = "sgemm_06_swizzled_a"
    others = {key: time for key, time in times.items() if key[0] != name}
    own = {key: time for key, time in times.items() if key[0] == name}
    fitted = calibration.fit(known.works, others, calibration.fit(known.works, times))
    found = calibration.log_errors(fitted, known.works, own)
    for (_, size), error in found.items():
        assert 2.718281828**error == pytest.approx(known.errors[name][str(size)], rel=1e-3)


@needs.gxx
@pytest.mark.parametrize("name", ["sgemm_06_swizzled_a", "hgemm_14_conflict_free"])
def test_the_committed_counts_are_those_of_the_steps(name):
    known, found = asdict(calibration.load().works[name]), asdict(work_of(kernel(name), 64))
    known["resident"] = found["resident"]  # follows from the registers
    for what, value in known.items():
        same = pytest.approx(value, rel=1e-4) if isinstance(value, float) else value
        assert found[what] == (tuple(value) if what == "tile" else same)


@needs.gxx
def test_conflicts_cost_time():
    """Without its swizzle the step has the conflicts back, and is estimated to be slower."""
    plain = variant("sgemm_06_swizzled_a", {"return m ^ (k / 4 * 8)": "return m"})
    own, worse = (estimate(one, registers=127) for one in ("sgemm_06_swizzled_a", plain))
    assert worse.pipes["shared memory"] > own.pipes["shared memory"]
    assert worse.row().time_us > own.row().time_us
    assert "estimated for an H200, not measured" in repr(own)


def test_wrong_arguments_are_named():
    with pytest.raises(ArgumentError, match="registers"):
        estimate("sgemm_01_naive", registers=300)
    with pytest.raises(ArgumentError, match="sizes"):
        estimate("sgemm_01_naive", sizes=[])
    with pytest.raises(ArgumentError, match="multiple of 128"):
        estimate("sgemm_06_swizzled_a", sizes=100)


def test_a_damaged_calibration_is_refused(monkeypatch, tmp_path):
    bad = tmp_path / "calibration.json"
    bad.write_text("{}")
    monkeypatch.setattr(calibration, "path", lambda: bad)
    with pytest.raises(MeasurementError, match="python -m tools"):
        calibration.load.__wrapped__()
