"""Recorded traces of warpgroups: what a recording holds of one, and how it is read again.

A trace is what a build of a step that writes down events left (`steps/traced.py`), of one launch
and one block. It is kept only if that build takes at most MOST_LONGER longer than the timed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.arguments import one_of_many
from ..core.errors import MeasurementError
from ..layouts.warpgroups import events
from ..layouts.warpgroups.trace import WarpgroupTrace
from ..steps import registry
from ..steps.program import Program
from ..steps.traced import EVENTS
from .staleness import CURRENT, SAME, STALE, staleness
from .store import load

SECTION, FAMILY = "traces", "wgmma"
# As a share of the timed build's time. To read the clock takes some 30 cycles a k tile, and one of
# ping-pong takes 512.
MOST_LONGER = 0.06
_PLACES = ("consumer 0", "consumer 1", "producer")


@dataclass(frozen=True)
class RecordedTrace:
    """A step's trace and where it comes from.

    size: M = N = K. longer: by what share the build that traces took longer than the timed one.
    state: whether it holds for the step as it stands now, as `measurements.staleness` says it.
    """

    step: str
    trace: WarpgroupTrace
    size: int
    longer: float
    environment: Mapping[str, Any]
    state: str

    @property
    def gpu(self) -> str:
        """The GPU without its maker, "H200"."""
        return str(self.environment["gpu"]).removeprefix("NVIDIA ")

    @property
    def warning(self) -> str:
        """A sentence if the step's machine code may be another one today; else ""."""
        if self.state in (CURRENT, SAME):
            return ""
        return f"{STALE[self.state].format(self.step)}."


def packed(trace: WarpgroupTrace, longer: float) -> dict[str, Any]:
    """A trace as a recording holds it."""
    lines = zip(_PLACES, trace.lines, strict=True)
    return {
        "longer": longer,
        "schedule": trace.schedule,
        "depth": trace.depth,
        "group": trace.group,
        "begin": trace.begin,
        "end": trace.end,
        "lines": {place: events.written(line) for place, line in lines},
    }


def refused(longer: float) -> str:
    """Why there is no trace, if the build that traces takes too long; "" if it does not."""
    if longer <= MOST_LONGER:
        return ""
    return (
        f"the build that traces takes {longer:.1%} longer than the timed one, more than the "
        f"{MOST_LONGER:.0%} up to which a trace is kept"
    )


def recorded_trace(step: str, gpu: str | None = None) -> RecordedTrace:
    """The recorded trace of a step's warpgroups.

    step: one of those that `steps/traced.py` puts events into. gpu: as for `load`. Raises
    ArgumentError for another step, MeasurementError if none is recorded, saying how it is, if it
    was refused, or if it is damaged.
    """
    one_of_many("step", step, EVENTS, "traced steps")
    recording = load(family=FAMILY, gpu=gpu)
    section = recording.section(SECTION)
    data = section["steps"][step]
    if note := data.get("note"):
        raise MeasurementError(f"{SECTION}: there is none of {step} for {recording.gpu}: {note}")
    state = staleness(Program(registry.get(step)), *recording.digests(SECTION)[step])
    origin = section["environment"]
    return RecordedTrace(step, _unpacked(data), section["size"], data["longer"], origin, state)


def _unpacked(data: Mapping[str, Any]) -> WarpgroupTrace:
    first, second, producer = (events.read(data["lines"][place]) for place in _PLACES)
    return WarpgroupTrace(
        data["schedule"],
        data["depth"],
        data["group"],
        (first, second, producer),
        data["begin"],
        data["end"],
    )
