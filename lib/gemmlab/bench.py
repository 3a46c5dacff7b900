"""Measure steps against cuBLAS; without a GPU, show the recorded run."""

from __future__ import annotations

from collections.abc import Sequence

from . import live, measurements, registry, run
from .device import default_backend, why_no_gpu
from .errors import ArgumentError, MeasurementError
from .results import BASELINES, BenchResult, show_size

MODES = ("interleaved", "burst", "sustained")

_Kernels = str | run.Kernel | registry.KernelSpec | Sequence[str | run.Kernel | registry.KernelSpec]
_Sizes = int | Sequence[int | tuple[int, int, int]]


def bench(
    kernels: _Kernels | None = None,
    sizes: _Sizes = (4096,),
    *,
    mode: str = "interleaved",
    warm_l2: bool = False,
    samples: int = 50,
    seconds: float | None = None,
    baselines: Sequence[str] = tuple(BASELINES),
) -> BenchResult:
    """Time `kernels` (all steps, if not given) and cuBLAS at `sizes` (M = N = K, or (M, N, K)).

    Inputs are normal random, TF32 is off. `mode` "interleaved" runs everyone in turns and writes
    over the L2 before each launch (unless `warm_l2`); "burst" times ten launches after a rest;
    "sustained" launches each kernel back to back for `seconds` (5 if not given) and keeps the last
    third. In the first mode `seconds` (1 if not given) limits what one kernel may take at one size;
    slow kernels so get fewer than `samples`. Launches under 20 us are timed in batches.

    Without a GPU the recorded run is shown instead, and says so.
    Raises ArgumentError for arguments it cannot take, LaunchError for a kernel whose result is
    wrong, MeasurementError for what neither this machine nor the recorded run can give.
    """
    handles = _labelled(_as_list(registry.KERNELS if kernels is None else kernels))
    shapes = [_shape(size) for size in ([sizes] if isinstance(sizes, int | str) else sizes)]
    _check_arguments(shapes, mode, samples, seconds, baselines)
    for handle in handles.values():
        for shape in shapes:
            handle.spec.check_sizes(*shape)
    protocol = live.Protocol(mode, warm_l2, tuple(baselines), samples, seconds)
    if default_backend() == "sim":
        return _recorded(list(handles), shapes, protocol)
    return _live(handles, shapes, protocol)


def _live(
    handles: dict[str, run.Kernel], shapes: list[tuple[int, int, int]], protocol: live.Protocol
) -> BenchResult:
    from .telemetry import environment

    rows, conditions, notes = [], {}, {}
    for shape in shapes:
        with live.tf32_off():
            measured, during, note = live.measure(handles, shape, protocol)
        rows += measured
        conditions[show_size(shape)] = during
        notes[note] = None
    note = "; ".join(filter(None, notes))
    return BenchResult(tuple(rows), "live", environment(), conditions, note)


def _recorded(
    names: list[str], shapes: list[tuple[int, int, int]], protocol: live.Protocol
) -> BenchResult:
    """The recorded rows for these arguments, or an error that says what is recorded instead."""
    why = why_no_gpu() or "GEMMLAB_BACKEND=sim"
    loaded = measurements.load()
    everything = loaded.bench(experiments=True)
    mode, l2 = protocol.mode, protocol.l2
    matching = everything.only([*names, *protocol.baselines], shapes, mode, l2)
    order = {shape: i for i, shape in enumerate(shapes)}
    rows = sorted(matching.rows, key=lambda row: order[row.M, row.N, row.K])
    have = {(row.kernel, (row.M, row.N, row.K)) for row in rows}
    for name in names:
        for shape in shapes:
            if (name, shape) not in have:
                raise MeasurementError(
                    f"{name} at {show_size(shape)} (mode {mode}, L2 {l2}) is not in the recorded "
                    f"run, and it cannot be measured here ({why}). "
                    f"Recorded are {_inventory(everything)}"
                )
    note = f"Not measured here: {why}"
    if changed := sorted(set(names) & set(measurements.stale(loaded))):
        note += f". The code of {', '.join(changed)} has changed since the recording"
    return BenchResult(tuple(rows), "recorded", everything.environment, everything.conditions, note)


def _inventory(result: BenchResult) -> str:
    groups: dict[str, tuple[dict, dict]] = {}
    for row in result.rows:
        kernels, sizes = groups.setdefault(f"mode {row.mode}, L2 {row.l2}", ({}, {}))
        kernels[row.kernel] = sizes[row.size] = None
    return "; ".join(
        f"{', '.join(kernels)} at {', '.join(sizes)} ({how})"
        for how, (kernels, sizes) in groups.items()
    )


def _labelled(kernels: Sequence) -> dict[str, run.Kernel]:
    """Handles by a name of their own: variants keep their step's name, so they get a number."""
    labelled: dict[str, run.Kernel] = {}
    for item in kernels:
        handle = run.kernel(item)
        name = handle.title
        count = sum(known.partition(" #")[0] == name for known in labelled)
        if handle in labelled.values():
            continue
        labelled[f"{name} #{count + 1}" if count else name] = handle
    return labelled


def _as_list(kernels: _Kernels) -> Sequence:
    single = isinstance(kernels, str | run.Kernel | registry.KernelSpec)
    return [kernels] if single else list(kernels)


def _shape(size: int | tuple[int, int, int]) -> tuple[int, int, int]:
    shape = (size,) * 3 if isinstance(size, int | str) else tuple(size)
    if len(shape) != 3 or not all(isinstance(n, int) and n > 0 for n in shape):
        raise ArgumentError(
            f"sizes: got {size!r}; each is a positive integer (M = N = K) or a tuple (M, N, K)"
        )
    return shape


def _check_arguments(shapes, mode: str, samples: int, seconds, baselines) -> None:
    if not shapes:
        raise ArgumentError("sizes: is empty; give at least one, such as [4096]")
    if mode not in MODES:
        raise ArgumentError(f"mode: got {mode!r}; allowed are {', '.join(MODES)}")
    if not (isinstance(samples, int) and samples >= 1):
        raise ArgumentError(f"samples: got {samples!r}; it is an integer of at least 1")
    if seconds is not None and not seconds > 0:
        raise ArgumentError(f"seconds: got {seconds!r}; it is a time above 0")
    if unknown := set(baselines) - set(BASELINES):
        raise ArgumentError(
            f"baselines: {', '.join(sorted(unknown))} not known; allowed are {', '.join(BASELINES)}"
        )
