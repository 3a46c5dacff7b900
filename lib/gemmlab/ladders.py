"""The rows of a ladder of recorded steps, which may come from the runs of two families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import measurements
from .measurements import Measurements, origin
from .results import BASELINES, BenchRow, short

# Families that take over where another one ends: same types, another run.
CONTINUES = {"tma": "hgemm"}


@dataclass(frozen=True)
class Ladder:
    """Steps in the order of the course, then the baselines of the last run.

    runs: the recordings, each with its own cuBLAS, which a row's `ratio` is to.
    """

    runs: tuple[Measurements, ...]
    rows: tuple[BenchRow, ...]
    origin: str

    def label(self, kernel: str) -> str:
        """A step's short name; behind the first family also which one it is of."""
        family = kernel.partition("_")[0]
        later = any(run.family == family for run in self.runs[1:])
        return f"{family.upper()} {short(kernel)}" if later else short(kernel)


def recorded(family: str) -> Ladder:
    """The recorded steps of a family, behind those of the family that it continues.

    Raises MeasurementError if one was not recorded.
    """
    before = (CONTINUES[family],) if family in CONTINUES else ()
    runs = tuple(measurements.load(family=name) for name in (*before, family))
    if not before:
        return Ladder(runs, runs[0].bench().rows, origin(runs[0].environment))
    found = [own_steps(run.family, run.bench().rows) for run in runs]
    rows = [row for steps in found for row in steps]
    rows += [row for row in runs[-1].bench().rows if row.kernel in BASELINES]
    made = measurements.origins((run.environment for run in runs), map(_span, found))
    return Ladder(runs, tuple(rows), f"{made}; shares are of cuBLAS in the same run")


def own_steps(family: str, rows: Iterable[BenchRow]) -> list[BenchRow]:
    """The rows of a family's steps: a run may have timed those of others beside them."""
    return [row for row in rows if row.kernel.startswith(f"{family}_")]


def _span(rows: Sequence[BenchRow]) -> str:
    names = list(dict.fromkeys("_".join(row.kernel.split("_")[:2]) for row in rows))
    return " to ".join(dict.fromkeys((names[0], names[-1]))) if names else "no step"
