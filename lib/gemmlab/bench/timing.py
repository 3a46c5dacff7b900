"""How launches are timed: in which order, how often, and what the samples become.

The three modes only call a timer's `time`, `estimate`, `heat`, `rest` and `sustain`; `GpuTimer`
does these on a GPU, and tests put a fake in its place.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..core import progress
from ..gpu.probes import Clock
from ..gpu.telemetry import Gpu, Monitor

# An event pair around one launch reads 2 to 5 us too much. Below this time per launch that shows,
# so shorter launches are captured in a CUDA graph and timed together.
BATCH_BELOW_US = 20.0
BATCH_US = 200.0
BATCH_MOST = 64


@dataclass(frozen=True)
class Launch:
    """One kernel at one size, ready to run: `call` makes `batch` launches on the current stream."""

    name: str
    call: Callable[[], object]
    batch: int = 1


@dataclass(frozen=True)
class Sample:
    """One timing: microseconds per launch, and the SM clock right behind it."""

    time_us: float
    clock_mhz: float


@dataclass
class Timing:
    """All samples of one kernel, and its ratio to the baseline (above 1 if faster)."""

    samples: list[Sample] = field(default_factory=list)
    ratio: float | None = None
    power_w: float | None = None

    @property
    def time_us(self) -> float:
        """Median time of a launch."""
        return statistics.median(s.time_us for s in self.samples)

    @property
    def clock_mhz(self) -> float:
        """Median SM clock."""
        return statistics.median(s.clock_mhz for s in self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """10th and 90th percentile of the time."""
        times = [s.time_us for s in self.samples]
        return percentile(times, 0.1), percentile(times, 0.9)


@dataclass(frozen=True)
class Budget:
    """At most `samples` timings of a kernel, fewer if they would take over `seconds`."""

    samples: int = 50
    fewest: int = 3
    seconds: float = 1.0

    def count(self, time_us: float) -> int:
        """How many timings of a launch that takes this long."""
        return max(self.fewest, min(self.samples, int(self.seconds * 1e6 / time_us)))


class Timer(Protocol):
    """What the modes need of a clock."""

    def time(self, launch: Launch) -> Sample:
        """Time one call, with the caches as the timer was made for."""

    def estimate(self, launch: Launch) -> float:
        """Microseconds per launch, roughly; the first launch of a kernel happens here."""

    def heat(self, launch: Launch, seconds: float) -> None:
        """Keep the GPU busy."""

    def rest(self, seconds: float) -> None:
        """Let the GPU rest."""

    def sustain(self, launch: Launch, seconds: float, time_us: float) -> Timing:
        """Launch back to back and time the last third."""


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
    rounds: list[dict[int, Sample]] = []
    total_s = sum(n * us for n, us in zip(counts, times_us, strict=True)) / 1e6
    orders = schedule(counts)
    for order in progress.bar(orders, "measuring") if total_s > 2 else orders:
        rounds.append({i: timer.time(launches[i]) for i in order})
    timings = []
    for i in range(len(launches)):
        played = [r for r in rounds if i in r]
        ratios = [r[base].time_us / r[i].time_us for r in played]
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
    """Ten launches after a rest, three times: the chip before heat and power hold it back."""
    each: list[list[list[Sample]]] = [[] for _ in launches]
    for order in schedule([repeats] * len(launches)):
        for i in order:
            timer.rest(rest_s)
            timer.time(launches[i])  # the clock rises here, untimed
            count = max(2, min(10, int(0.5e6 / times_us[i])))
            each[i].append([timer.time(launches[i]) for _ in range(count)])
    medians = [[statistics.median(s.time_us for s in turn) for turn in turns] for turns in each]
    timings = []
    for i, turns in enumerate(each):
        ratios = [b / t for b, t in zip(medians[base], medians[i], strict=True)]
        timings.append(Timing([s for turn in turns for s in turn], statistics.median(ratios)))
    return timings


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


def batch_size(fastest_us: float) -> int:
    """How many launches share one timing at a size where the fastest kernel takes this long."""
    if fastest_us >= BATCH_BELOW_US:
        return 1
    return min(BATCH_MOST, math.ceil(BATCH_US / fastest_us))


def percentile(values: Sequence[float], q: float) -> float:
    """Linear interpolation between the sorted values."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


class GpuTimer:
    """CUDA events around a launch, on a GPU that is busy until the launch begins.

    Cold: before every timing a buffer of four times the L2 is written. Warm: the same launch runs
    once untimed. Then one thread spins for a while, so that both events and the launch are queued
    before the first of them begins; on an idle GPU the time would contain Python's, and that of
    torch.matmul, which was seen to take 80 us.
    """

    def __init__(self, cold: bool = True):
        import torch

        device = torch.cuda.current_device()
        l2_bytes = torch.cuda.get_device_properties(device).L2_cache_size
        self._flush = None
        if cold:
            size = max(4 * l2_bytes, 64 << 20)
            self._flush = torch.empty(size, dtype=torch.uint8, device="cuda")
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._clock = Clock()
        self.monitor = Monitor(Gpu(device))

    def time(self, launch: Launch) -> Sample:
        """Time one call of `launch`."""
        if self._flush is not None:
            self._flush.zero_()
        else:
            launch.call()
        return self._timed(launch.call, launch.batch)

    def estimate(self, launch: Launch) -> float:
        """Microseconds per launch: the best of three, or the first if that took over 0.1 s."""
        first = self.time(launch).time_us
        return first if first > 1e5 else min(self.time(launch).time_us for _ in range(3))

    def heat(self, launch: Launch, seconds: float) -> None:
        """Launch for `seconds`, so that the clock has left its idle state."""
        import torch

        until = time.monotonic() + seconds
        while time.monotonic() < until:
            launch.call()
            torch.cuda.synchronize()

    def rest(self, seconds: float) -> None:
        """Leave the GPU idle."""
        import torch

        torch.cuda.synchronize()
        time.sleep(seconds)

    def sustain(self, launch: Launch, seconds: float, time_us: float) -> Timing:
        """Launch back to back, timed in stretches of 50 ms; the last third of them is kept."""
        many = max(1, round(5e4 / (time_us * launch.batch)))

        def stretch() -> None:
            for _ in range(many):
                launch.call()

        begin = time.monotonic()
        done: list[tuple[float, Sample]] = []
        while time.monotonic() < begin + seconds or len(done) < 3:
            started = time.monotonic()
            done.append((started, self._timed(stretch, many * launch.batch)))
        since = begin + (time.monotonic() - begin) * 2 / 3
        kept = [sample for started, sample in done if started >= since] or [done[-1][1]]
        return Timing(kept, power_w=self.monitor.median("power_w", since))

    def _timed(self, call: Callable[[], object], launches: int) -> Sample:
        self._clock.hold()
        self._start.record()
        call()
        self._end.record()
        self._clock.start()
        self.monitor.poll()  # while the GPU is busy
        self._end.synchronize()
        return Sample(1000 * self._start.elapsed_time(self._end) / launches, self._clock.mhz())
