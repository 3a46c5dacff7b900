"""One product of cuBLAS, timed in several ways: what each mistake costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from .. import measurements
from ..bench.protocol import tf32_off
from ..bench.timer import GpuTimer, Launch
from ..display.numbers import show_rate, show_time
from ..display.table import Shown, Table
from ..gpu.telemetry import environment
from ..gpu.turns import alone
from ..run.backend import default_backend

SIZE, SMALL, STEADY_SECONDS = 4096, 1024, 3.0
_BY_HOST, _BY_EVENTS = 10, 20  # launches whose median counts


@dataclass(frozen=True)
class Timed:
    """One way of timing: what was done, the time it reports, the TFLOP/s one would believe."""

    way: str
    size: int
    time_us: float
    power_w: float | None = None

    @property
    def tflops(self) -> float:
        """2 * size**3 operations over the reported time."""
        return 2 * self.size**3 / self.time_us / 1e6


@dataclass(frozen=True, repr=False)
class Pitfalls(Shown):
    """All ways, on one GPU; `source` is "live" or "recorded"."""

    ways: tuple[Timed, ...]
    source: str
    environment: dict

    def shown(self) -> Table:
        """A row for each way."""
        rows = [
            [
                way.way,
                str(way.size),
                show_time(way.time_us),
                show_rate(way.tflops),
                "-" if way.power_w is None else f"{way.power_w:.0f} W",
            ]
            for way in self.ways
        ]
        made = measurements.made_on(self.environment, self.source)
        note = f"cuBLAS through torch.matmul, fp32. {made}"
        head = ("how it was timed", "size", "time", "TFLOP/s", "power")
        return Table(head, rows, "tnnnn", [note], close=True)


def pitfalls() -> Pitfalls:
    """The table of mistakes: measured on a GPU, else the recorded one.

    Raises MeasurementError without a GPU and without a recording.
    """
    if default_backend() == "gpu":
        return measure()
    section = measurements.load().section("pitfalls")
    ways = tuple(Timed(**way) for way in section["ways"])
    return Pitfalls(ways, "recorded", dict(section["environment"]))


@alone()
def measure() -> Pitfalls:
    """Time fp32 products with torch.matmul in every way of the table; about 15 s."""
    import torch

    with tf32_off():
        large, small, zeros = _product(SIZE), _product(SMALL), _product(SIZE, zeros=True)
        for launch in (large, small, zeros):
            _events(launch, cold=False)
        ways = [
            Timed("host clock, no synchronisation", SIZE, _host(large, wait=False)),
            Timed("host clock, then synchronise", SIZE, _host(large, wait=True)),
            Timed("host clock, then synchronise", SMALL, _host(small, wait=True)),
            Timed("CUDA events, inputs in L2", SMALL, _events(small, cold=False)),
            Timed("CUDA events, L2 overwritten before", SMALL, _events(small, cold=True)),
            Timed("CUDA events, L2 overwritten before", SIZE, _events(large, cold=True)),
            Timed("matrices of zeros, seconds on end", SIZE, *_steady(zeros)),
            Timed("random matrices, seconds on end", SIZE, *_steady(large)),
        ]
        torch.backends.cuda.matmul.allow_tf32 = True  # the block restores what was set before
        ways.append(Timed("CUDA events, TF32 left on", SIZE, _events(large, cold=True)))
    return Pitfalls(tuple(ways), "live", environment())


def _product(size: int, zeros: bool = False) -> Callable[[], object]:
    import torch

    make = torch.zeros if zeros else torch.randn
    A, B = make(size, size, device="cuda"), make(size, size, device="cuda")
    C = torch.empty(size, size, device="cuda")
    return lambda: torch.matmul(A, B, out=C)


def _host(launch: Callable[[], object], wait: bool) -> float:
    """Median microseconds by the host's clock, with or without waiting for the GPU at the end."""
    import torch

    times = []
    for _ in range(_BY_HOST):
        torch.cuda.synchronize()
        start = time.perf_counter()
        launch()
        if wait:
            torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def _events(launch: Callable[[], object], cold: bool) -> float:
    """Median microseconds by GpuTimer, the timer of every benchmark here."""
    timer = GpuTimer(cold=cold)
    return statistics.median(timer.time(Launch("cublas", launch)) for _ in range(_BY_EVENTS))


def _steady(launch: Callable[[], object]) -> tuple[float, float | None]:
    """Microseconds and watts in the last third of some seconds of back-to-back launches."""
    one = Launch("cublas", launch)
    timer = GpuTimer(cold=False)
    timing = timer.sustain(one, STEADY_SECONDS, timer.estimate(one))
    return timing.time_us, timing.power_w
