"""The ladder of recorded steps: its rows, from the runs of one or two families, and its chart."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .. import measurements
from ..core import arguments
from ..core.arguments import choice
from ..core.errors import MeasurementError
from ..display.figure import Theme, canvas, is_narrow
from ..display.numbers import short, show_rate
from ..experiments.tensor_cores.ceilings import recorded as recorded_ceilings
from ..experiments.tensor_cores.probes import ON_REGISTERS
from ..measurements.provenance import origin
from ..measurements.rows import BASELINES, BenchRow
from ..measurements.store import Measurements
from ..steps import registry
from ..widgets import Ladder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Families that take over where another one ends: same types, another run.
CONTINUES = {"tma": "hgemm", "wgmma": "tma"}


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


def recorded(family: str, gpu: str | None = None) -> LadderRows:
    """The recorded steps of a family, behind those of the family that it continues.

    gpu: whose recordings; None: the newest, and of the other family that of the same GPU. Raises
    MeasurementError if one was not recorded.
    """
    before = (CONTINUES[family],) if family in CONTINUES else ()
    last = measurements.load(family=family, gpu=gpu)
    runs = (*(measurements.load(family=name, gpu=last.gpu) for name in before), last)
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


def ladder(
    until: str | None = None, size: int = 4096, gpu: str | None = None, **options: Any
) -> Ladder:
    """The recorded run as a Ladder, up to the step `until`; `options` are Ladder's.

    until: a step; None: all of the family. size: M = N = K. gpu: whose recording, "H200"; None: the
    newest, which is your own if you have recorded one, and the reader can choose any other GPU that
    has been recorded. options: `precision`, `metric` and others of Ladder's.
    The run is that of `until`'s family, or of the first with `precision`. Where a family continues
    another one, its steps follow those, as shares of cuBLAS, each in its own run. Raises
    MeasurementError if nothing was recorded, ArgumentError for a wrong option.
    """
    known = inspect.signature(Ladder).parameters
    for name in options:
        choice("options", name, known, lead="; Ladder has ")
    spec = registry.get(until) if until is not None else None
    precision = options.pop("precision", spec.precisions[0] if spec else "fp32")
    family = spec.family if spec else registry.family_of(precision)
    found = recorded(family, gpu)
    if gpu is None:
        options.setdefault("gpu", _named(found.runs[-1].gpu))
        options.setdefault("others", _others(family, found.runs[-1].gpu))
    size = arguments.size("size", size)
    with_ceilings = [run for run in found.runs if "tensor_cores" in run.sections]
    if with_ceilings:
        options.setdefault("ceiling", _ceiling(with_ceilings[0]))
    if len(found.runs) > 1:
        options.setdefault("metric", "ratio")
    rows = [{**asdict(row), "label": found.label(row.kernel)} for row in found.rows]
    return Ladder(rows, found.origin, until=until, size=size, precision=precision, **options)


def _named(gpu: str) -> str:
    return gpu.removeprefix("NVIDIA ")


def _others(family: str, shown: str) -> dict[str, tuple[tuple[BenchRow, ...], str]]:
    """The same steps on the other GPUs that have been recorded, each with its own cuBLAS."""
    found = {}
    for gpu in measurements.gpus(family):
        if gpu != shown:
            with suppress(MeasurementError):  # one that lacks the family before this one
                there = recorded(family, gpu)
                found[_named(gpu)] = there.rows, there.origin
    return found


def _ceiling(loaded: Measurements) -> float:
    """TFLOP/s of mma.sync on registers, in a burst as the steps are measured."""
    return recorded_ceilings(loaded).row(ON_REGISTERS["bf16"].name).tflops


@dataclass(frozen=True)
class Bar:
    """A step of the ladder: name, TFLOP/s, share of cuBLAS in words, whether it is set off.

    length: of the bar, on the scale of the line for cuBLAS.
    """

    name: str
    tflops: float
    share: str
    strong: bool
    length: float


def draw_ladder(theme: Theme, bars: Sequence[Bar], cublas: tuple[float, str], axis: str) -> Figure:
    """Bars from top to bottom, the numbers beside them; a dashed line for cuBLAS, with its name."""
    figure, axes = canvas(1.1 + 0.34 * len(bars))
    places = range(len(bars))
    line, name = cublas
    longest = max(line, *(bar.length for bar in bars))
    axes.barh(
        places,
        [bar.length for bar in bars],
        height=0.64,
        color=[theme.strong if bar.strong else theme.accent for bar in bars],
    )
    for place, bar in zip(places, bars, strict=True):
        inside = bar.length > 0.55 * longest
        axes.annotate(
            f"{show_rate(bar.tflops)}  ({bar.share})",
            (bar.length, place),
            xytext=(-4 if inside else 4, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            color=theme.paper if inside else theme.text,
            weight="bold" if bar.strong else "normal",
        )
    axes.axvline(line, color=theme.text, linewidth=1, linestyle=(0, (4, 2)))
    beside = line - 0.02 * longest  # pages set the text in other fonts, a little wider
    axes.text(beside, -0.5, name, ha="right", va="bottom")
    axes.set_yticks(places, [bar.name for bar in bars])
    axes.tick_params(axis="y", length=0, labelcolor=theme.text)
    axes.set_ylim(len(bars) - 0.5, -1.1)
    axes.set_xlim(0, 1.03 * longest)
    axes.set_xlabel(axis.replace(" at ", "\nat ") if is_narrow() else axis)
    axes.spines["left"].set_visible(False)
    return figure
