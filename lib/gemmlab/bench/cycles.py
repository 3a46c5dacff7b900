"""Cycles of a step, counted by a second build of it, if that one is as fast as the timed one.

What is timed reads no clock. The second build (`gpu/block_clock.py`) takes the same arguments, so a
launch plan of the step runs either.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import ModuleType

from ..core.errors import BuildError, LaunchError, MeasurementError
from ..core.layout import PLAIN
from ..gpu import block_clock
from ..gpu.block_clock import BlockClock, Reading
from ..measurements.rows import CLOCK64, BenchRow
from ..run.kernel import Kernel, LaunchPlan
from .interleaving import BURST_LAUNCHES, burst_launches
from .timer import Launch, Timer

AGREE = 0.005  # the second build may take as much longer or shorter, as a share
_ROUNDS, _FEWEST, _SECONDS = 32, 5, 0.2
_SETTLED_S = 1.0  # of steady load before a reading
_REST_S = 0.5

Modules = Mapping[str, ModuleType | str]  # the second builds by name, or why there is none


@dataclass(frozen=True)
class Counted:
    """A reading of the second build, or why it says nothing about the timed one."""

    reading: Reading | None
    note: str = ""

    def into(self, row: BenchRow, sms: int) -> BenchRow:
        """The row with its cycles, or with the reason why it has none."""
        if self.reading is None:
            return replace(row, clock_note=self.note)
        return row.counted(self.reading.cycles, CLOCK64, sms, self.reading.mhz)


def second_builds(handles: Mapping[str, Kernel], precision: str, layout: str = PLAIN) -> Modules:
    """The second build of each kernel, many at a time."""

    def built(handle: Kernel) -> ModuleType | str:
        try:
            return block_clock.load(handle, precision, layout)
        except BuildError as error:
            return f"the build that counts cycles failed: {str(error).splitlines()[0]}"

    with ThreadPoolExecutor() as pool:
        return dict(zip(handles, pool.map(built, handles.values()), strict=True))


def count(plan: LaunchPlan, module: ModuleType | str, timer: Timer, mode: str) -> Counted:
    """Launch both builds in turns, compare their times, and read the clocks of the second.

    plan: of the timed build. module: the second build, or why there is none. mode: as in `bench`;
    in a burst and at steady load the clock is read there, once the times agree.
    """
    if isinstance(module, str):
        return Counted(None, module)
    try:
        with BlockClock(module) as clock:
            return _counted(plan, replace(plan, module=module), timer, clock, mode)
    except (LaunchError, MeasurementError) as error:
        return Counted(None, str(error))


def _counted(
    plan: LaunchPlan, other: LaunchPlan, timer: Timer, clock: BlockClock, mode: str
) -> Counted:
    timed, second = Launch("timed", plan), Launch("second", other)
    share = longer(timed, second, timer, clock.reset)
    if abs(share) > AGREE:
        words = "longer" if share > 0 else "shorter"
        return Counted(None, f"the build that counts cycles takes {abs(share):.1%} {words}")
    if mode == "sustained":
        readings = [_at_steady_load(second, timer, clock)]
    else:
        again = burst_launches(timer.estimate(second)) if mode == "burst" else BURST_LAUNCHES
        timer.rest(_REST_S if mode == "burst" else 0.0)
        readings = [_again(second, timer, clock) for _ in range(again + 1)][1:]
    return Counted(
        Reading(
            statistics.median(reading.cycles for reading in readings),
            statistics.median(reading.mhz for reading in readings),
        )
    )


def longer(
    timed: Launch, second: Launch, timer: Timer, before: Callable[[], object] | None = None
) -> float:
    """By what share the second build takes longer, the median over rounds of four launches.

    before: what is done in front of each launch.

    In a round each comes twice, timed, second, second, timed, and nothing is read in between: so
    both see the same clocks and the same pauses.
    """
    slow_us = max(timer.estimate(timed), timer.estimate(second))
    rounds = max(_FEWEST, min(_ROUNDS, int(_SECONDS * 1e6 / slow_us)))
    shares = []
    for _ in range(rounds):
        a, b, c, d = (timer.time(one, before) for one in (timed, second, second, timed))
        shares.append((b + c) / (a + d) - 1)
    return statistics.median(shares)


def _again(second: Launch, timer: Timer, clock: BlockClock) -> Reading:
    timer.time(second, clock.reset)
    return clock.read()


def _at_steady_load(second: Launch, timer: Timer, clock: BlockClock) -> Reading:
    """Of the last launch of many back to back."""
    time_us = timer.estimate(second)
    timer.sustain(second, _SETTLED_S, time_us)
    for _ in range(max(1, int(0.1e6 / time_us))):
        second.call()
    return clock.of(second.call)
