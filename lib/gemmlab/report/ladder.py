"""The rows of a ladder of recorded steps, which may come from the runs of two families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .. import measurements
from ..display.numbers import short
from ..experiments.tensor_cores.ceilings import ON_REGISTERS
from ..experiments.tensor_cores.ceilings import recorded as recorded_ceilings
from ..measurements.provenance import origin
from ..measurements.rows import BASELINES, BenchRow
from ..measurements.store import Measurements
from ..steps import registry
from ..widgets import Ladder

# Families that take over where another one ends: same types, another run.
CONTINUES = {"tma": "hgemm"}


@dataclass(frozen=True)
class LadderRows:
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


def recorded(family: str) -> LadderRows:
    """The recorded steps of a family, behind those of the family that it continues.

    Raises MeasurementError if one was not recorded.
    """
    before = (CONTINUES[family],) if family in CONTINUES else ()
    runs = tuple(measurements.load(family=name) for name in (*before, family))
    if not before:
        return LadderRows(runs, runs[0].bench().rows, origin(runs[0].environment))
    found = [own_steps(run.family, run.bench().rows) for run in runs]
    rows = [row for steps in found for row in steps]
    rows += [row for row in runs[-1].bench().rows if row.kernel in BASELINES]
    made = measurements.origins((run.environment for run in runs), map(_span, found))
    return LadderRows(runs, tuple(rows), f"{made}; shares are of cuBLAS in the same run")


def own_steps(family: str, rows: Iterable[BenchRow]) -> list[BenchRow]:
    """The rows of a family's steps: a run may have timed those of others beside them."""
    return [row for row in rows if row.kernel.startswith(f"{family}_")]


def _span(rows: Sequence[BenchRow]) -> str:
    names = list(dict.fromkeys("_".join(row.kernel.split("_")[:2]) for row in rows))
    return " to ".join(dict.fromkeys((names[0], names[-1]))) if names else "no step"


def ladder(until: str | None = None, size: int = 4096, **options: Any) -> Ladder:
    """The recorded run as a Ladder, up to the step `until`; `options` are Ladder's.

    until: a step; None: all of the family. size: M = N = K. options: `precision`, `metric` and
    others. The run is that of `until`'s family, or of the first with `precision`. Where a family
    continues another one, its steps stand behind the other's, as shares of cuBLAS, each in its own
    run. Raises MeasurementError if nothing was recorded.
    """
    spec = registry.get(until) if until else None
    precision = options.pop("precision", spec.precisions[0] if spec else "fp32")
    found = recorded(spec.family if spec else registry.family_of(precision))
    with_ceilings = [run for run in found.runs if "tensor_cores" in run.sections]
    if with_ceilings:
        options.setdefault("ceiling", _ceiling(with_ceilings[0]))
    if len(found.runs) > 1:
        options.setdefault("metric", "ratio")
    rows = [{**asdict(row), "label": found.label(row.kernel)} for row in found.rows]
    return Ladder(rows, found.origin, until=until, size=size, precision=precision, **options)


def _ceiling(loaded: Measurements) -> float:
    """TFLOP/s of mma.sync on registers, in a burst as the steps are measured."""
    return recorded_ceilings(loaded).row(ON_REGISTERS["bf16"].name).tflops
