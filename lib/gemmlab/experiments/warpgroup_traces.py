"""What the warpgroups of a real kernel do, by `clock64`: measured for `WarpgroupTimeline`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..bench.cycles import longer
from ..bench.timer import GpuTimer, Launch
from ..core.errors import BuildError, LaunchError, MeasurementError
from ..core.precision import precision
from ..gpu import event_clock
from ..layouts.warpgroups import events
from ..layouts.warpgroups.events import Line
from ..layouts.warpgroups.trace import WarpgroupTrace
from ..measurements.traces import packed, refused
from ..run.kernel import Kernel, kernel, matrices
from ..steps.program import Program
from ..steps.traced import SCHEDULES

SIZE = 4096  # M = N = K
TILES = 2  # of C, in the middle of a block's work
# Of an SM with 16-bit inputs, a cycle: four tensor cores with 512 multiplications and additions.
FLOP_A_CYCLE = 4 * 512 * 2
_WARM_S = 0.3


def measure(names: Sequence[str]) -> dict[str, Any]:
    """The section of a recording: a trace of each of these steps, or a note why there is none.

    Needs a GPU and nvcc.
    """
    return {"size": SIZE, "tiles": TILES, "steps": {name: _noted(name) for name in names}}


def _noted(name: str) -> dict[str, Any]:
    try:
        return _measured(kernel(name))
    except (BuildError, LaunchError, MeasurementError) as error:
        return {"note": str(error).splitlines()[0]}


def _measured(step: Kernel) -> dict[str, Any]:
    import torch

    types = precision(step.spec.precisions[0])
    A, B = matrices(SIZE, SIZE, SIZE, device="cuda", dtype=types.given)
    plan = step.launcher(A, B, torch.empty_like(A))
    traced = replace(plan, module=event_clock.load(step, types.name))
    timer, second = GpuTimer(cold=False), Launch("traced", traced)
    timer.heat(second, _WARM_S)
    share = longer(Launch("timed", plan), second, timer)
    if note := refused(share):
        return {"longer": share, "note": note}
    first, *_ = event_clock.events_of(traced.module, traced)
    return packed(trace_of(step, first).middle(TILES), share)


def trace_of(step: Program, lines: Sequence[Line], depth: int = 0) -> WarpgroupTrace:
    """A block's lines of events as a trace of all its work.

    depth: k tiles of a tile; 0: those of SIZE. Raises MeasurementError if a clock goes backwards.
    """
    if not all(map(events.in_order, lines)):
        raise MeasurementError(f"{step.name}: an event is before the one in front of it")
    BM, BN, BK = step.spec.tile
    schedule, depth = SCHEDULES[step.name], depth or -(-SIZE // BK)
    rows = BM if schedule == "ping-pong" else BM // len(events.CONSUMERS)
    group = 2 * rows * BN * BK // FLOP_A_CYCLE
    first, second, producer = events.numbered(lines, schedule, depth)
    return WarpgroupTrace(schedule, depth, group, (first, second, producer))
