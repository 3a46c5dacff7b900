"""Measure steps against cuBLAS; without a GPU, show the recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import measurements
from ..core import arguments
from ..core.arguments import choice
from ..core.errors import ArgumentError, MeasurementError
from ..core.precision import precision as types_of
from ..display.numbers import show_size
from ..gpu import requirements
from ..gpu.sandbox import context_watch
from ..gpu.telemetry import environment
from ..measurements.currency import STALE
from ..measurements.rows import BASELINES, DEFAULT_BASELINES, OTHER_PRECISION, BenchResult, BenchRow
from ..run.backend import default_backend, why_no_gpu
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..steps import registry
from ..steps.spec import KernelSpec
from .protocol import Protocol, measure, tf32_off

MODES = ("interleaved", "burst", "sustained")

_Kernels = str | Kernel | KernelSpec | Sequence[str | Kernel | KernelSpec]
_Sizes = int | Sequence[int | tuple[int, int, int]]


def bench(
    kernels: _Kernels | None = None,
    sizes: _Sizes = (4096,),
    *,
    mode: str = "interleaved",
    warm_l2: bool = False,
    samples: int = 50,
    seconds: float | None = None,
    baselines: Sequence[str] = DEFAULT_BASELINES,
    precision: str | None = None,
) -> BenchResult:
    """Time `kernels` and cuBLAS at `sizes` (M = N = K, or (M, N, K)).

    Inputs are normal random, TF32 is off. Launches under 20 us are timed in batches. Without a GPU
    the recorded run is shown instead, and says so: of kernels of several parts, the one with all.

    precision: "fp32", "bf16", "fp16", or "bf16_fp32" and "fp16_fp32" with C in fp32. If not given,
    the first kernel's first; without kernels, all steps of the first part that has it run.
    mode: "interleaved" runs everyone in turns and writes over the L2 before each launch (unless
    `warm_l2`); "burst" times ten launches after a rest; "sustained" launches each kernel back to
    back for `seconds` (5 if not given) and keeps the last third. samples: timings of each kernel at
    each size. seconds: in the first mode the most that one kernel may take at one size (1 if not
    given), so that slow kernels get fewer samples. baselines: may also have "cublas_tf32", cuBLAS
    on tensor cores, with inputs rounded to TF32.
    Raises ArgumentError for arguments it cannot take, LaunchError for a kernel whose result is
    wrong, MeasurementError for what neither this machine nor the recorded run can give.
    """
    handles = _labelled(_all(precision) if kernels is None else _as_list(kernels))
    if precision is None:
        precision = _common([k.spec for k in handles.values()])
    shapes, baselines = shapes_of(sizes), _baselines(baselines, types_of(precision).name)
    _check_how(mode, warm_l2, samples, seconds)
    _check_kernels(handles, shapes, precision)
    protocol = Protocol(mode, warm_l2, baselines, samples, seconds, precision)
    if default_backend() == "sim":
        return _recorded(handles, shapes, protocol)
    for handle in handles.values():  # before the first of them is built
        requirements.require(handle)
    return _live(handles, shapes, protocol)


@context_watch()
def _live(
    handles: dict[str, Kernel], shapes: list[tuple[int, int, int]], protocol: Protocol
) -> BenchResult:
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
    handles: dict[str, Kernel], shapes: list[tuple[int, int, int]], protocol: Protocol
) -> BenchResult:
    """The recorded rows for these arguments, or an error that says what is recorded instead.

    Of kernels of several families, the run that has them all; that of the last kernel comes first.
    """
    families = [handle.spec.family for handle in handles.values()]
    families += [registry.family_of(protocol.precision)] * (not families)
    asked, lacking = dict.fromkeys(reversed(families)), []
    for family in asked:
        try:
            return _of_run(measurements.load(family=family), list(handles), shapes, protocol)
        except MeasurementError as error:
            if len(asked) == 1:
                raise
            lacking.append(f"{family}: {getattr(error, 'what', error)}")
    raise MeasurementError(
        f"kernels: no recorded run has all of them ({'; '.join(lacking)}), and they cannot be "
        f"measured here ({why_not_here()}). Bench those of each part apart"
    )


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
    parts = {section: part.only(*wanted) for section, part in timings.items()}
    parts = {section: part for section, part in parts.items() if part.rows}
    rows: dict[tuple, BenchRow] = {}
    for row in (row for part in parts.values() for row in part.rows):
        rows.setdefault((row.kernel, (row.M, row.N, row.K)), row)
    for name in [*names, *(b for b in protocol.baselines if b in OTHER_PRECISION)]:
        for shape in shapes:
            if (name, shape) not in rows:
                raise _NotInRunError(
                    f"{name} at {show_size(shape)} ({protocol.precision}, mode {protocol.mode}, "
                    f"L2 {protocol.l2}) is not in the recorded run",
                    f"and it cannot be measured here ({why_not_here()}). "
                    + _inventory(timings, name),
                )
    order = {shape: i for i, shape in enumerate(shapes)}
    ordered = tuple(sorted(rows.values(), key=lambda row: order[row.M, row.N, row.K]))
    environment = next(iter(parts.values()), timings["benchmark"]).environment
    conditions = {size: was for part in parts.values() for size, was in part.conditions.items()}
    note = f"Not measured here: {why_not_here()}{_remarks(names, loaded, parts)}"
    return BenchResult(ordered, "recorded", environment, conditions, note)


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
    return why_no_gpu() or "GEMMLAB_BACKEND=sim"


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


def shapes_of(sizes: _Sizes) -> list[tuple[int, int, int]]:
    """(M, N, K) of each size. Raises ArgumentError for what is not a size, and if none is given."""
    given = _numbers(sizes) if isinstance(sizes, Iterable) else [sizes]
    if not given:
        raise ArgumentError("sizes: is empty; give at least one, such as [4096]")
    return [_shape(size) for size in given]


def _numbers(sizes: object) -> list:
    return arguments.sequence("sizes", sizes, "[4096], or [(M, N, K)]")


def _shape(size: int | tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        M, N, K = _numbers(size) if isinstance(size, Iterable) else [size] * 3
        return arguments.shape((M, N, K))
    except ValueError:  # not three, or what arguments.shape says of M
        raise ArgumentError(
            f"sizes: got {arguments.brief(size)}; each is an integer from 1 to "
            f"{arguments.MAX_SIZE} (M = N = K), such as 4096, or a tuple (M, N, K)"
        ) from None


def _check_how(mode: str, warm_l2: bool, samples: int, seconds: float | None) -> None:
    choice("mode", mode, MODES, lead="; allowed are ")
    arguments.flag("warm_l2", warm_l2)
    check_counts(samples, seconds)


def check_counts(samples: int, seconds: float | None) -> None:
    """Raise ArgumentError unless these say how often, or for how long, to measure."""
    arguments.size("samples", samples)
    if seconds is not None:
        arguments.seconds("seconds", seconds)


def _check_kernels(
    handles: dict[str, Kernel], shapes: list[tuple[int, int, int]], precision: str
) -> None:
    """Raise ArgumentError for a step that is not compiled for the types, or refuses a size."""
    for handle in handles.values():
        handle.spec.template_arguments(precision)
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
