"""How one launch is timed on a GPU: events around it, caches as asked, no clock in between.

`GpuTimer` does what the modes of a benchmark (interleaving.py) need; tests put a fake in its place.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..gpu.probes import hold
from ..gpu.telemetry import Gpu, Monitor

# An event pair around one launch reads 2 to 5 us too much. Below this time per launch that shows,
# so shorter launches are captured in a CUDA graph and timed together.
BATCH_BELOW_US = 20.0
BATCH_US = 200.0
BATCH_MOST = 64
# At steady load launches that are shorter than this run in batches, too: otherwise the GPU waits
# for Python, which takes 5 to 15 us for a launch.
STEADY_BELOW_US = 50.0


@dataclass(frozen=True)
class Launch:
    """One kernel at one size, ready to run: `call` makes `batch` launches on the current stream."""

    name: str
    call: Callable[[], object]
    batch: int = 1


@dataclass
class Timing:
    """All samples of one kernel, microseconds per launch, and its ratio to the baseline (above 1 if
    faster)."""

    samples: list[float] = field(default_factory=list)
    ratio: float | None = None
    power_w: float | None = None

    @property
    def time_us(self) -> float:
        """Median time of a launch."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """10th and 90th percentile of the time."""
        return percentile(self.samples, 0.1), percentile(self.samples, 0.9)


class Timer(Protocol):
    """What the modes need of a GPU."""

    def time(self, launch: Launch, before: Callable[[], object] | None = None) -> float:
        """Microseconds per launch of one call, with the caches as the timer was made for.

        before: what to do in front of it, when the caches are ready.
        """

    def estimate(self, launch: Launch) -> float:
        """Microseconds per launch, roughly; the first launch of a kernel happens here."""

    def heat(self, launch: Launch, seconds: float) -> None:
        """Keep the GPU busy."""

    def rest(self, seconds: float) -> None:
        """Let the GPU rest."""

    def sustain(self, launch: Launch, seconds: float, time_us: float) -> Timing:
        """Launch back to back and time the last third."""


def batch_size(fastest_us: float, below_us: float = BATCH_BELOW_US) -> int:
    """How many launches share one timing at a size where the fastest kernel takes this long."""
    if fastest_us >= below_us:
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
        self.monitor = Monitor(Gpu(device))

    def time(self, launch: Launch, before: Callable[[], object] | None = None) -> float:
        """Microseconds per launch of one call of `launch`, with `before` in front of it."""
        if self._flush is not None:
            self._flush.zero_()
        else:
            launch.call()
        if before is not None:
            before()
        return self._timed(launch.call, launch.batch)

    def estimate(self, launch: Launch) -> float:
        """Microseconds per launch: the best of three, or the first if that took over 0.1 s."""
        first = self.time(launch)
        return first if first > 1e5 else min(self.time(launch) for _ in range(3))

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
        done: list[tuple[float, float]] = []
        while time.monotonic() < begin + seconds or len(done) < 3:
            started = time.monotonic()
            done.append((started, self._timed(stretch, many * launch.batch)))
        since = begin + (time.monotonic() - begin) * 2 / 3
        kept = [time_us for started, time_us in done if started >= since] or [done[-1][1]]
        return Timing(kept, power_w=self.monitor.median("power_w", since))

    def _timed(self, call: Callable[[], object], launches: int) -> float:
        hold()
        self._start.record()
        call()
        self._end.record()
        self.monitor.poll()  # while the GPU is busy
        self._end.synchronize()
        return 1000 * self._start.elapsed_time(self._end) / launches
