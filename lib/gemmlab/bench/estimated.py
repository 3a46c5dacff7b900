"""Rows of kernels that were estimated and not measured, among the recorded ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..core.errors import ArgumentError
from ..measurements.rows import BASELINES, BenchRow
from ..run.kernel import Kernel
from .estimate import estimate

Shape = tuple[int, int, int]
_NEAREST = 2  # recorded steps on either side


def rows(kernels: Mapping[str, Kernel], shapes: Sequence[Shape], precision: str) -> list[BenchRow]:
    """A row for each kernel and shape, with a range in place of a spread.

    Raises what `lab.estimate` raises.
    """
    found = []
    for label, kernel in kernels.items():
        for row in estimate(kernel, shapes).rows:
            work = row.time_us * row.tflops
            found.append(
                BenchRow(
                    kernel=label,
                    M=row.M,
                    N=row.N,
                    K=row.K,
                    precision=precision,
                    time_us=row.time_us,
                    spread=(work / row.high, work / row.low),
                    tflops=row.tflops,
                    ratio=None,
                    flop_per_clk_sm=None,
                    clock_mhz=None,
                    power_w=None,
                    samples=0,
                    estimated=(row.low, row.high),
                )
            )
    return found


def nearest(rows: Sequence[BenchRow], recorded: Iterable[BenchRow]) -> list[str]:
    """The recorded steps whose speed is next to the first row's, the slower ones first.

    Raises ArgumentError if no step was recorded at its shape.
    """
    first = rows[0]
    here = sorted(
        (row for row in recorded if row.kernel not in BASELINES and _same(row, first)),
        key=lambda row: row.tflops,
    )
    if not here:
        raise ArgumentError(
            f"sizes: no step is recorded at {first.size} ({first.precision}), to show beside "
            f"{first.kernel}; lab.estimate takes any size"
        )
    place = sum(row.tflops < first.tflops for row in here)
    return [row.kernel for row in here[max(0, place - _NEAREST) : place + _NEAREST]]


def placed(rows: Sequence[BenchRow], recorded: Sequence[BenchRow]) -> tuple[BenchRow, ...]:
    """The recorded rows, with the estimated ones in front of the baselines of their shape."""
    steps = [row for row in recorded if row.kernel not in BASELINES]
    baselines = [row for row in recorded if row.kernel in BASELINES]
    done: list[BenchRow] = []
    for shape in dict.fromkeys((row.M, row.N, row.K) for row in rows):
        here = [row for row in baselines if shape == (row.M, row.N, row.K)]
        cublas = next((row.time_us for row in here if row.kernel == "cublas"), None)
        done += [row for row in steps if shape == (row.M, row.N, row.K)]
        for row in rows:
            if shape == (row.M, row.N, row.K):
                done.append(replace(row, ratio=cublas and cublas / row.time_us))
        done += here
    return tuple(done)


def _same(row: BenchRow, other: BenchRow) -> bool:
    shape = (row.M, row.N, row.K) == (other.M, other.N, other.K)
    return shape and (row.precision, row.mode, row.l2) == (other.precision, other.mode, other.l2)
