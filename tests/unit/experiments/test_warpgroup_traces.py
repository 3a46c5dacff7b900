"""A recorded trace: measured with fakes in place of a GPU, kept or refused, and read again."""

from __future__ import annotations

import types

import pytest
import torch
from traced_lines import DEPTH, ENV, PACK, STORE, lines_of, recorded

from gemmlab import measurements
from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.experiments import warpgroup_traces
from gemmlab.experiments.warpgroup_traces import measure
from gemmlab.layouts.warpgroups.events import Event
from gemmlab.measurements import staleness
from gemmlab.measurements.store import Measurements, save
from gemmlab.measurements.traces import MOST_LONGER, recorded_trace
from gemmlab.run.kernel import LaunchPlan
from gemmlab.steps import registry
from gemmlab.steps.text import source_digest

STEP = "wgmma_05_persistent"


class Timer:
    """A launch takes what its module says."""

    def __init__(self, cold: bool) -> None:
        assert not cold

    def heat(self, launch, seconds: float) -> None:
        launch.call()

    def estimate(self, launch) -> float:
        return launch.call.module.us

    def time(self, launch, before=None) -> float:
        return launch.call.module.us


@pytest.fixture
def gpu(monkeypatch, tmp_path, root):
    """What a GPU would do, on which the build that traces takes `longer` longer."""
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    asked = types.SimpleNamespace(longer=0.01, lines=lines_of("persistent"))

    def module(us: float):
        return types.SimpleNamespace(us=us, launch=lambda *_: 0, error_string=str)

    monkeypatch.setattr(warpgroup_traces, "SIZE", DEPTH * 64)
    monkeypatch.setattr(warpgroup_traces, "GpuTimer", Timer)
    monkeypatch.setattr(
        warpgroup_traces, "matrices", lambda *_, **__: (torch.zeros(8, 8), torch.zeros(8, 8))
    )
    plan = LaunchPlan(STEP, "", module(100.0), ())
    monkeypatch.setattr(warpgroup_traces.Kernel, "launcher", lambda *_: plan)
    clock = types.SimpleNamespace(
        load=lambda *_: module(100.0 * (1 + asked.longer)),
        events_of=lambda module, call: (asked.lines, asked.lines),
    )
    monkeypatch.setattr(warpgroup_traces, "event_clock", clock)
    return asked


def saved(data: dict, source: str = "") -> None:
    digests = {"sources": {STEP: source or source_digest(registry.get(STEP).path)}}
    section = {"environment": ENV, **data, **digests, "machine_code": {STEP: {"bf16": "0" * 16}}}
    save(Measurements("NVIDIA H200", {"traces": section}, "wgmma"))


def test_a_trace_is_recorded_and_read_again(gpu):
    data = measure([STEP])
    saved(data)
    found = recorded_trace(STEP)
    assert (found.gpu, found.size, found.longer) == ("H200", 4096, pytest.approx(0.01))
    assert (found.state, found.warning) == (staleness.CURRENT, "")
    trace = found.trace
    assert (trace.schedule, trace.depth, trace.group) == ("persistent", DEPTH, 512)
    period = DEPTH * 1024 + STORE + 100
    gap = STORE + 100 - 512 - 20  # the products of the second consumer end 20 cycles late
    assert trace.end - trace.begin == 2 * period
    assert trace.percent == pytest.approx(100 * (1 - gap / period))
    assert [one.end - one.begin for one in trace.idle()] == [gap, gap]
    assert trace.cause(trace.idle()[0])[1].state == "store"
    assert len(str(data["steps"][STEP])) < 12_000


def test_a_build_that_takes_too_long_is_refused_with_a_sentence(gpu):
    gpu.longer = MOST_LONGER + 0.01
    data = measure([STEP])
    assert "lines" not in data["steps"][STEP]
    saved(data)
    with pytest.raises(MeasurementError, match=r"none of wgmma_05_persistent .* takes 7.0% longer"):
        recorded_trace(STEP)


def test_a_shorter_time_is_no_reason_to_refuse(gpu):
    gpu.longer = -0.05
    assert "lines" in measure([STEP])["steps"][STEP]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (((), (), ()), "0 tiles"),
        (((Event("full", 0, 5), Event("started", 0, 4)), (), ()), "before the one in front"),
    ],
)
def test_events_that_make_no_trace_are_a_note(gpu, lines, said):
    gpu.lines = lines
    assert said in measure([STEP])["steps"][STEP]["note"]


def test_without_a_recording_it_says_how_it_is_made(gpu):
    save(Measurements("NVIDIA H200", {"probes": {"environment": ENV}}, "wgmma"))
    with pytest.raises(MeasurementError, match="record --family wgmma --only traces"):
        recorded_trace(STEP)
    with pytest.raises(ArgumentError, match="traced steps"):
        recorded_trace("wgmma_06_cluster")


def test_a_trace_of_another_source_warns(gpu):
    saved(measure([STEP]), source="0" * 12)
    assert STEP in recorded_trace(STEP).warning


def test_what_hides_a_store_is_seen():
    late, turns = recorded("wgmma_08_order").trace, recorded("wgmma_13_ping_pong").trace
    assert late.idle() == () and late.percent == 100
    stores = dict(late.lanes(*late.window()))["C of 0"]
    assert [bar.tile for bar in stores] == [1] * 4  # its pieces, beside the products of tile 2
    assert PACK < 512  # so the other consumer's products cover it
    assert [gap.end - gap.begin for gap in turns.idle()] == [180, 180]
    assert turns.cause(turns.idle()[0])[1].state == "turn"


def test_the_section_is_one_of_the_family_s():
    from gemmlab.record import SECTIONS_OF

    assert "traces" in SECTIONS_OF["wgmma"] and "traces" not in SECTIONS_OF["sgemm"]
    assert measurements.store.SECTIONS.count("traces") == 1
