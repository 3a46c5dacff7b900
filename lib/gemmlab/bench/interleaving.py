"""Modes of a benchmark: who is launched when, how often, and against whom.

Interleaved with the baseline, a burst after a rest, or steady load. They only call a timer's
`time`, `estimate`, `heat`, `rest` and `sustain` (timer.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..core import progress
from .timer import Launch, Timer, Timing

BURST_LAUNCHES = 10
# After a rest it takes the power limit some 45 ms to lower the clock (H200). A burst that is longer
# has launches of both kinds, and its median is of neither.
BURST_S = 0.045


@dataclass(frozen=True)
class Budget:
    """At most `samples` timings of a kernel, fewer if they would take over `seconds`."""

    samples: int = 50
    fewest: int = 3
    seconds: float = 1.0

    def count(self, time_us: float) -> int:
        """How many timings of a launch that takes this long."""
        return max(self.fewest, min(self.samples, int(self.seconds * 1e6 / time_us)))


def interleaved(
    launches: Sequence[Launch], timer: Timer, times_us: Sequence[float], base: int, budget: Budget
) -> list[Timing]:
    """Everyone once a round, order changing, so that all see the same clocks and temperature.

    Slow kernels sit out some rounds. The ratio is the median over a kernel's rounds of (baseline's
    time) / (its time), both of that round.
    """
    counts = [budget.count(us) for us in times_us]
    counts[base] = max(counts)
    timer.heat(launches[base], 0.2)
    rounds: list[dict[int, float]] = []
    total_s = sum(n * us for n, us in zip(counts, times_us, strict=True)) / 1e6
    orders = schedule(counts)
    for order in progress.bar(orders, "measuring") if total_s > 2 else orders:
        rounds.append({i: timer.time(launches[i]) for i in order})
    timings = []
    for i in range(len(launches)):
        played = [r for r in rounds if i in r]
        ratios = [r[base] / r[i] for r in played]
        timings.append(Timing([r[i] for r in played], statistics.median(ratios)))
    return timings


def burst(
    launches: Sequence[Launch],
    timer: Timer,
    times_us: Sequence[float],
    base: int,
    repeats: int = 3,
    rest_s: float = 0.5,
) -> list[Timing]:
    """Launches after a rest, three times: the chip before heat and power hold it back.

    As many as `burst_launches` says.
    """
    each: list[list[list[float]]] = [[] for _ in launches]
    for order in schedule([repeats] * len(launches)):
        for i in order:
            timer.rest(rest_s)
            timer.time(launches[i])  # the clock rises here, untimed
            count = burst_launches(times_us[i])
            each[i].append([timer.time(launches[i]) for _ in range(count)])
    medians = [[statistics.median(turn) for turn in turns] for turns in each]
    timings = []
    for i, turns in enumerate(each):
        ratios = [b / t for b, t in zip(medians[base], medians[i], strict=True)]
        timings.append(Timing([us for turn in turns for us in turn], statistics.median(ratios)))
    return timings


def burst_launches(time_us: float) -> int:
    """How many launches of this length a burst times, behind one untimed.

    Ten, or as many as fit into BURST_S, but at least two.
    """
    return max(2, min(BURST_LAUNCHES, int(BURST_S * 1e6 / time_us) - 1))


def sustained(
    launches: Sequence[Launch], timer: Timer, times_us: Sequence[float], base: int, seconds: float
) -> list[Timing]:
    """Each kernel alone, back to back for `seconds`; only the last third counts.

    There the power and temperature limits have settled the clock. The ratio compares medians.
    """
    timings = []
    for launch, us in zip(launches, times_us, strict=True):
        with progress.busy(f"{launch.name}, {seconds:.0f} s at steady load"):
            timings.append(timer.sustain(launch, seconds, us))
    for timing in timings:
        timing.ratio = timings[base].time_us / timing.time_us
    return timings


def schedule(counts: Sequence[int]) -> list[list[int]]:
    """Which launches run in each round, in order: launch i runs in counts[i] rounds, evenly spread.

    The order rotates by one each round and is reversed every second round, so that no launch always
    follows the same one.
    """
    rounds = max(counts)
    orders = []
    for r in range(rounds):
        playing = [i for i, n in enumerate(counts) if (r + 1) * n // rounds > r * n // rounds]
        shift = r % len(playing)
        order = playing[shift:] + playing[:shift]
        orders.append(order[::-1] if r % 2 else order)
    return orders
