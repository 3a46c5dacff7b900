"""A chapter run only for what it builds: short benchmarks, nothing simulated, no choice kept."""

from __future__ import annotations

from functools import partialmethod

from gemmlab.bench.interleaving import Budget
from gemmlab.bench.timer import GpuTimer, Launch
from gemmlab.run import tuned
from gemmlab.sim.module import SimModule
from gemmlab.sim.trace import Findings, Trace

SECONDS = 0.1  # at steady load


def shorten() -> None:
    """Make this process's measurements short, and have what they find be forgotten.

    Several chapters are rehearsed at a time, so what they measure on the one GPU means nothing.
    Kernels are compiled for the simulator, too, but nothing runs on it.
    """
    setattr(Budget, "count", partialmethod(_once))  # noqa: B010  # of a class
    setattr(GpuTimer, "sustain", partialmethod(_briefly, GpuTimer.sustain))  # noqa: B010
    setattr(GpuTimer, "rest", lambda self, seconds: None)  # noqa: B010
    setattr(tuned, "add", lambda here, trial: None)  # noqa: B010
    setattr(SimModule, "launch", lambda self, *args, **how: None)  # noqa: B010
    setattr(SimModule, "trace", _nothing_counted)  # noqa: B010


def _once(self: Budget, time_us: float) -> int:
    return 1


def _briefly(self: GpuTimer, whole, launch: Launch, seconds: float, time_us: float):
    return whole(self, launch, min(seconds, SECONDS), time_us)


def _nothing_counted(self: SimModule, A, B, C, M: int, N: int, K: int, *args, **how) -> Trace:
    return Trace(self.name, M, N, K, lines=(), findings=Findings())
