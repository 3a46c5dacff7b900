"""Measure steps against cuBLAS; without a GPU, show the recorded run."""

from __future__ import annotations

from collections.abc import Sequence

from .. import measurements
from ..core import arguments
from ..core.arguments import choice
from ..core.errors import ArgumentError, MeasurementError
from ..core.layout import PLAIN
from ..core.layout import layout as layout_of
from ..core.precision import precision as types_of
from ..display.numbers import show_size
from ..gpu import requirements
from ..gpu.sandbox import context_watch
from ..gpu.telemetry import environment
from ..measurements.rows import BASELINES, DEFAULT_BASELINES, OTHER_PRECISION, BenchResult, BenchRow
from ..measurements.staleness import STALE
from ..run.backend import default_backend, why_no_gpu
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..steps import registry
from ..steps.spec import KernelSpec
from . import estimated
from .protocol import Protocol, measure, tf32_off
from .shapes import Sizes, shapes_of

MODES = ("interleaved", "burst", "sustained", "graph")

_Kernels = str | Kernel | KernelSpec | Sequence[str | Kernel | KernelSpec]


def bench(
    kernels: _Kernels | None = None,
    sizes: Sizes = (4096,),
    *,
    mode: str = "interleaved",
    warm_l2: bool = False,
    samples: int = 50,
    seconds: float | None = None,
    baselines: Sequence[str] = DEFAULT_BASELINES,
    precision: str | None = None,
    clock: bool = False,
    layout: str = PLAIN,
    gpu: str | None = None,
) -> BenchResult:
    """Time `kernels` and cuBLAS at `sizes` (M = N = K, or (M, N, K)).

    Inputs are normal random, TF32 is off, launches under 20 us are timed in batches. Without a GPU
    the recorded run is shown, and says so; a kernel of your own is shown with its estimate.
    precision: "fp32", "bf16", "fp16", or "bf16_fp32" and "fp16_fp32" with C in fp32; None: the
    first kernel's first precision; without kernels, all steps of the first part that has the
    precision run. mode: "interleaved" runs all kernels in turns and writes over the L2 before each
    launch (unless `warm_l2`); "burst" times ten launches after a rest, fewer if they are long;
    "sustained" launches each kernel back to back for `seconds` (5) and keeps the last third;
    "graph" is "interleaved" with 24 launches captured in one CUDA graph, on matrices that take
    turns. samples: timings of each kernel. seconds: in the first mode the most that a kernel may
    take at a size (1). baselines: may also have "cublas_tf32", with inputs rounded to TF32. clock:
    also count cycles, by a second build that reads clocks. layout: "nn", "nt" (B a transposed
    view), "tn" (A), "tt" (both), also for cuBLAS. gpu: show what was recorded on that GPU, "H200".
    Raises ArgumentError for arguments it cannot take, LaunchError for a kernel whose result is
    wrong, MeasurementError for what neither this machine nor the recorded run can give.
    """
    handles = _labelled(_all(precision) if kernels is None else _as_list(kernels))
    if precision is None:
        precision = _common([k.spec for k in handles.values()])
    shapes, baselines = shapes_of(sizes), _baselines(baselines, types_of(precision).name)
    protocol = Protocol(mode, warm_l2, baselines, samples, seconds, precision, clock, layout)
    _check(handles, shapes, protocol)
    if gpu is not None or default_backend() == "sim":
        return _recorded(handles, shapes, protocol, gpu)
    return _live(handles, shapes, protocol)


@context_watch()
def _live(
    handles: dict[str, Kernel], shapes: list[tuple[int, int, int]], protocol: Protocol
) -> BenchResult:
    for handle in handles.values():  # before the first of them is built
        requirements.require(handle)
    rows: list[BenchRow] = []
    conditions, notes = {}, dict[str, None]()
    for shape in shapes:
        with tf32_off():
            measured, during, note = measure(handles, shape, protocol)
        rows += measured
        conditions[show_size(shape)] = during
        notes[note] = None
    note = "; ".join(filter(None, notes))
    return BenchResult(tuple(rows), "live", environment(), conditions, note)


def _recorded(
    handles: dict[str, Kernel],
    shapes: list[tuple[int, int, int]],
    protocol: Protocol,
    gpu: str | None = None,
) -> BenchResult:
    """The recorded rows for these arguments, or an error that says what is recorded instead.

    Of kernels of several families, the run that has them all; that of the last kernel comes first.
    """
    if own := {label: k for label, k in handles.items() if not k.source.trusted}:
        return _estimated(handles, own, shapes, protocol, gpu)
    families = [handle.spec.family for handle in handles.values()]
    families += [registry.family_of(protocol.precision)] * (not families)
    asked, lacking = dict.fromkeys(reversed(families)), []
    for family in asked:
        try:
            loaded = measurements.load(family=family, gpu=gpu)
            return _of_run(loaded, list(handles), shapes, protocol)
        except MeasurementError as error:
            if len(asked) == 1:
                raise
            lacking.append(f"{family}: {getattr(error, 'what', error)}")
    raise MeasurementError(
        f"kernels: no recorded run has all of them ({'; '.join(lacking)}), and they cannot be "
        f"measured here ({why_not_here()}). Bench those of each part apart"
    )


def _estimated(
    handles: dict[str, Kernel],
    own: dict[str, Kernel],
    shapes: list[tuple[int, int, int]],
    protocol: Protocol,
    gpu: str | None = None,
) -> BenchResult:
    """Kernels written in a notebook, estimated, among the recorded steps that are nearest."""
    others = {label: k for label, k in handles.items() if label not in own}
    rows = estimated.rows(own, shapes, protocol.precision)
    if not others:
        family = next(iter(own.values())).spec.family
        run = measurements.load(family=family, gpu=gpu).bench()
        others = {name: handle_of(name) for name in estimated.nearest(rows, run.rows)}
    known = _recorded(others, shapes, protocol, gpu)
    titles = ", ".join(own)
    note = (
        f"{titles}: estimated for an H200 from what the simulator counts, not measured; 80 % of "
        f"the recorded steps are within the range beside it. {known.note}"
    )
    placed = estimated.placed(rows, known.rows)
    return BenchResult(placed, "recorded", known.environment, known.conditions, note)


class _NotInRunError(MeasurementError):
    """A recorded run lacks something; `what` says only that."""

    def __init__(self, what: str, more: str):
        super().__init__(f"{what}, {more}")
        self.what = what


def _of_run(
    loaded: measurements.Measurements,
    names: list[str],
    shapes: list[tuple[int, int, int]],
    protocol: Protocol,
) -> BenchResult:
    """The rows of one recorded run. Raises MeasurementError if it does not have them all."""
    loaded.section("benchmark")  # must be there
    timings = loaded.timings()
    wanted = ([*names, *protocol.baselines], shapes, protocol.mode, protocol.l2, protocol.precision)
    parts = {section: part.only(*wanted, protocol.layout) for section, part in timings.items()}
    parts = {section: part for section, part in parts.items() if part.rows}
    rows: dict[tuple, BenchRow] = {}
    for row in (row for part in parts.values() for row in part.rows):
        rows.setdefault((row.kernel, (row.M, row.N, row.K)), row)
    for name in [*names, *(b for b in protocol.baselines if b in OTHER_PRECISION)]:
        for shape in shapes:
            if (name, shape) not in rows:
                raise _NotInRunError(
                    f"{name} at {show_size(shape)} ({protocol.precision}, mode {protocol.mode}, "
                    f"L2 {protocol.l2}{_in_layout(protocol)}) is not in the recorded run",
                    f"and it cannot be measured here ({why_not_here()}). "
                    + _inventory(timings, name),
                )
    order = {shape: i for i, shape in enumerate(shapes)}
    ordered = tuple(sorted(rows.values(), key=lambda row: order[row.M, row.N, row.K]))
    environment = next(iter(parts.values()), timings["benchmark"]).environment
    conditions = {size: was for part in parts.values() for size, was in part.conditions.items()}
    note = f"Not measured here: {why_not_here()}{_remarks(names, loaded, parts)}"
    return BenchResult(ordered, "recorded", environment, conditions, note)


def _in_layout(protocol: Protocol) -> str:
    return "" if protocol.layout == PLAIN else f", layout {protocol.layout}"


def _common(specs: Sequence[KernelSpec]) -> str:
    """The first kernel's first precision. Raises ArgumentError if another kernel lacks it."""
    first = specs[0].precisions[0] if specs else "fp32"
    if lacking := next((spec.name for spec in specs if first not in spec.precisions), ""):
        raise ArgumentError(
            f"kernels: {specs[0].name} runs in {first}, which {lacking} is not compiled for; "
            "bench them apart, or pass a precision that all of them have"
        )
    return first


def _all(precision: str | None) -> list[KernelSpec]:
    family = registry.family_of("fp32" if precision is None else precision)
    return [spec for spec in registry.KERNELS if spec.family == family]


def why_not_here() -> str:
    """Why the recorded run is shown in place of a live one."""
    forced = "GEMMLAB_BACKEND=sim" if default_backend() == "sim" else "a recording was asked for"
    return why_no_gpu() or forced


def _remarks(
    names: list[str], loaded: measurements.Measurements, parts: dict[str, BenchResult]
) -> str:
    """What has changed since these sections were recorded, and which were recorded elsewhere."""
    stale: dict[str, str] = {}
    for section in parts:
        stale |= measurements.stale(loaded, section)
    text = "".join(
        f". {phrase.format(', '.join(found))}"
        for state, phrase in STALE.items()
        if (found := sorted(name for name in set(names) & set(stale) if stale[name] == state))
    )
    origins = {section: measurements.origin(part.environment) for section, part in parts.items()}
    for section, origin in origins.items():
        if origin != next(iter(origins.values())):
            sizes = dict.fromkeys(row.size for row in parts[section].rows)
            text += f". {', '.join(sizes)}: recorded on {origin}"
    notes = dict.fromkeys(part.note for part in parts.values() if part.note)
    return text + "".join(f". {note}" for note in notes)


def _inventory(timings: dict[str, BenchResult], name: str) -> str:
    """At which sizes a kernel is recorded; of a step that is not, at which others are."""
    own = [row for part in timings.values() for row in part.rows if row.kernel == name]
    if not own and name not in registry.names():
        return (
            "Only steps of the course have recorded times; without a GPU, lab.check and lab.trace "
            "say whether a kernel is right and what it asks of the memory system"
        )
    sizes: dict[str, dict[str, None]] = {}
    for row in own or timings["benchmark"].rows:
        sizes.setdefault(f"{row.precision}, mode {row.mode}, L2 {row.l2}", {})[row.size] = None
    listed = "; ".join(f"{', '.join(known)} ({how})" for how, known in sizes.items())
    return f"It is recorded at {listed}" if own else f"Other steps are recorded at {listed}"


def _labelled(kernels: Sequence) -> dict[str, Kernel]:
    """Handles by a name of their own: variants keep their step's name, so they get a number."""
    labelled: dict[str, Kernel] = {}
    for item in kernels:
        handle = handle_of(item)
        name = handle.title
        count = sum(known.partition(" #")[0] == name for known in labelled)
        if handle in labelled.values():
            continue
        labelled[f"{name} #{count + 1}" if count else name] = handle
    return labelled


def _as_list(kernels: _Kernels) -> Sequence:
    if isinstance(kernels, str | Kernel | KernelSpec):
        return [kernels]
    return arguments.sequence("kernels", kernels, "['sgemm_01_naive'], or one step")


def _check_how(protocol: Protocol) -> None:
    choice("mode", protocol.mode, MODES, lead="; allowed are ")
    arguments.flag("warm_l2", protocol.warm_l2)
    arguments.flag("clock", protocol.clock)
    layout_of(protocol.layout)
    check_counts(protocol.samples, protocol.seconds)


def check_counts(samples: int, seconds: float | None) -> None:
    """Raise ArgumentError unless these say how often, or for how long, to measure."""
    arguments.size("samples", samples)
    if seconds is not None:
        arguments.seconds("seconds", seconds)


def _check(
    handles: dict[str, Kernel], shapes: list[tuple[int, int, int]], protocol: Protocol
) -> None:
    """Raise ArgumentError for what is no way to measure, and for a step that lacks the types or the
    layout, or refuses a size."""
    _check_how(protocol)
    for handle in handles.values():
        handle.spec.template_arguments(protocol.precision, protocol.layout)
        for shape in shapes:
            handle.spec.check_sizes(*shape)


def _baselines(asked: Sequence[str], precision: str) -> tuple[str, ...]:
    names = arguments.sequence("baselines", asked, "['cublas']")
    for name in names:
        choice("baselines", name, BASELINES, lead="; allowed are ")
    if precision != "fp32" and (other := set(names) & set(OTHER_PRECISION)):
        raise ArgumentError(
            f"baselines: {', '.join(other)} has fp32 inputs, and the kernels here take "
            f"{precision}; leave it out"
        )
    return tuple(names)
