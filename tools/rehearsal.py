"""A chapter run only for what it builds: benchmarks of one sample, and no choice is kept."""

from __future__ import annotations

from functools import partialmethod

from gemmlab.bench.timing import Budget, GpuTimer, Launch
from gemmlab.run import tuned

SECONDS = 0.1  # at steady load


def shorten() -> None:
    """Make this process's measurements short, and have what they find be forgotten.

    Several chapters are rehearsed at a time, so what they measure on the one GPU means nothing.
    """
    setattr(Budget, "count", partialmethod(_once))  # noqa: B010  # of a class
    setattr(GpuTimer, "sustain", partialmethod(_briefly, GpuTimer.sustain))  # noqa: B010
    setattr(tuned, "add", lambda here, trial: None)  # noqa: B010


def _once(self: Budget, time_us: float) -> int:
    return 1


def _briefly(self: GpuTimer, whole, launch: Launch, seconds: float, time_us: float):
    return whole(self, launch, min(seconds, SECONDS), time_us)
