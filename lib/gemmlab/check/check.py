"""Is a step right? Its limits, alpha and beta, a poisoned output, races, an fp64 reference."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import arguments
from ..core.memory import check_memory
from ..core.precision import precision
from ..gpu import requirements
from ..gpu.sandbox import context_watch
from ..run.backend import device_for
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..sim.findings import once, told
from ..steps.spec import KernelSpec
from .compare import bytes_of
from .coverage import Coverage
from .plan import Run, Shape, default_runs, given_runs
from .report import CheckReport
from .runner import Runner
from .tile import misfit


@context_watch()
def check(
    kernel: str | KernelSpec | Kernel,
    shapes: list[Shape] | None = None,
    device: str | None = None,
    *,
    precisions: Sequence[str] | None = None,
    allow_slow: bool = False,
) -> CheckReport:
    """Run a step at its limits, with several alpha and beta, and compare with an fp64 reference.

    Without `shapes`, the runs are: fewer and more k tiles than stages, several tiles, edges, K = 0,
    other addresses; in each configuration, with the precisions taking turns. C starts as NaN where
    beta is 0. On the simulator every run is traced for races and other findings. Blocks run in
    several orders, which must not change a bit of C. Steps whose blocks compute several tiles, or
    cut tiles, also run on simulated GPUs of 2 and of 5 SMs. The report's `verdict` is "clean"
    (`ok`), "finding", "wrong" or "incomplete"; its `coverage` says what was run.

    shapes: (M, N, K) to run instead, each with all alpha and beta; the verdict is then of these.
    device: "cuda" or "cpu" (the simulator); None: the GPU if there is one. precisions: some of
    those that a step of 16-bit types is compiled for, ["bf16"]. A configuration may refuse shapes,
    but not all of them; if `kernel` names one, only that is checked. allow_slow: let a run on the
    simulator take longer than a minute; without it such a shape is left out, and the verdict is
    "incomplete". Raises ArgumentError for shapes, precisions and devices, BackendError, BuildError.
    """
    handle, device = handle_of(kernel), device_for(device)
    backend = "gpu" if device == "cuda" else "sim"
    arguments.flag("allow_slow", allow_slow)
    shapes = None if shapes is None else _shapes(handle.spec, shapes)
    names = _precisions(handle.spec, precisions)
    if backend == "gpu":
        requirements.require(handle)
    runner = Runner(handle, device, backend, allow_slow)
    runner.run(_runs(handle, shapes, names, backend))
    covered = Coverage(handle.spec, backend, runner.done)
    # After a run that did not end nothing else was tried, which the report says already.
    left = () if shapes or handle.config or runner.stopped else covered.lacks()
    given = "at the shapes given" if shapes else "in the precisions given" if precisions else ""
    findings = _findings(handle, runner, backend)
    found = (runner.cases, findings, covered.words(), (*runner.left_out, *left))
    return CheckReport(handle.title, backend, *found, given=given, tile=handle.spec.tile)


def _findings(handle: Kernel, runner: Runner, backend: str) -> tuple[str, ...]:
    """What was found, by lines of the cell, behind a tile that does not fit, if there is one."""
    found = (*told(runner.findings), *told(runner.findings_without_k))
    said = tuple(once(handle.source.in_the_cell(text)) for text in dict.fromkeys(found))
    wrong = said or any(case.problem for case in runner.cases)
    cause = misfit(handle) if backend == "sim" and wrong else ""
    return (cause, *said) if cause else said


def _runs(
    handle: Kernel, shapes: Sequence[Shape] | None, precisions: Sequence[str], backend: str
) -> list[Run]:
    """In the configuration that the handle names, or in the step's own choice and in all."""
    configs = [handle.config, *(() if handle.config else handle.spec.configs)]
    if shapes:
        return given_runs(handle.spec, shapes, precisions, configs)
    return default_runs(handle.spec, precisions, configs, backend)


def _precisions(spec: KernelSpec, asked: Sequence[str] | None) -> list[str]:
    if asked is None:
        return list(spec.precisions)
    names = arguments.sequence("precisions", asked, f"[{spec.precisions[0]!r}]", empty=False)
    for name in names:
        spec.template_arguments(precision(name).name)  # refuses what the step is not compiled for
    return names


def _shapes(spec: KernelSpec, asked: Sequence[Shape]) -> list[Shape]:
    """Those asked for, if each has a C to compare that the step can make in this memory."""
    given = arguments.sequence("shapes", asked, "[(256, 128, 64)], of (M, N, K)", empty=False)
    shapes = [arguments.shape_of("shapes", one, low=(1, 1, 0)) for one in given]
    for shape in shapes:
        spec.check_sizes(*shape)
        check_memory("shapes", bytes_of(shape))
    return shapes
