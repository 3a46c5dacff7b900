"""Is a step right? Its limits, alpha and beta, a poisoned output, races, an fp64 reference."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import ArgumentError, BackendError
from ..gpu import requirements
from ..gpu.sandbox import context_watch
from ..run.backend import default_backend, why_no_gpu
from ..run.kernel import Kernel
from ..run.kernel import kernel as handle_of
from ..steps.spec import KernelSpec
from .coverage import Coverage
from .plan import Run, Shape, default_runs, given_runs
from .report import CheckReport
from .runner import Runner


@context_watch()
def check(
    kernel: str | KernelSpec | Kernel,
    shapes: list[Shape] | None = None,
    device: str | None = None,
    *,
    precisions: Sequence[str] | None = None,
    allow_slow: bool = False,
) -> CheckReport:
    """Run a step at its limits, alpha and beta, and compare with an fp64 reference.

    Without `shapes` these are: fewer and more k tiles than stages, several tiles, edges, no k,
    other addresses; in each configuration, in precisions that take turns. C starts as NaN where
    beta is 0. On the simulator every run is traced for races and other findings; blocks come in
    several orders, which may not change a bit of C; steps whose blocks take several tiles, or cut
    them, run on GPUs of 2 and of 5 SMs, too. The report's `verdict` is "clean" (`ok`), "finding",
    "wrong" or "incomplete"; its `coverage` says what was run.

    shapes: (M, N, K) to run instead, each with all alpha and beta; the verdict is then of these.
    device: "cuda" or "cpu" (the simulator); None: the GPU if there is one. precisions: some of
    those that a step of 16-bit types is compiled for, ["bf16"]. A configuration may refuse shapes,
    but not all of them; if `kernel` names one, only that is checked. allow_slow: let a run on the
    simulator take longer than a minute; without it such a shape is left out, and the verdict is
    "incomplete". Raises ArgumentError for shapes, precisions and devices, BackendError, BuildError.
    """
    handle = handle_of(kernel)
    backend = "gpu" if (device := _device(device)) == "cuda" else "sim"
    _check_shapes(handle.spec, shapes)
    names = _precisions(handle.spec, precisions)
    if backend == "gpu":
        requirements.require(handle)
    runner = Runner(handle, device, backend, allow_slow)
    runner.run(_runs(handle, shapes, names, backend))
    covered = Coverage(handle.spec, backend, runner.done)
    left = () if shapes or handle.config else covered.lacks()
    given = "at the shapes given" if shapes else "in the precisions given" if precisions else ""
    findings = tuple(map(str, runner.findings))
    found = (runner.cases, findings, covered.words(), (*runner.left_out, *left))
    return CheckReport(handle.title, backend, *found, given=given)


def _runs(
    handle: Kernel, shapes: Sequence[Shape] | None, precisions: Sequence[str], backend: str
) -> list[Run]:
    """In the configuration that the handle names, or in the step's own choice and in all."""
    configs = [handle.config, *(() if handle.config else handle.spec.configs)]
    if shapes:
        return given_runs(handle.spec, shapes, precisions, configs)
    return default_runs(handle.spec, precisions, configs, backend)


def _device(asked: str | None) -> str:
    if asked not in (None, "cuda", "cpu"):
        raise ArgumentError(f"device: got {asked!r}, allowed are 'cuda' and 'cpu'")
    if asked == "cuda" and (lacks := why_no_gpu()):
        raise BackendError(f"device: {lacks}; device='cpu' checks on the simulator")
    return asked or ("cuda" if default_backend() == "gpu" else "cpu")


def _precisions(spec: KernelSpec, asked: Sequence[str] | None) -> list[str]:
    if asked is None:
        return list(spec.precisions)
    if not asked or isinstance(asked, str):
        raise ArgumentError(f"precisions: got {asked!r}; expected a list such as ['bf16']")
    for name in asked:
        spec.template_arguments(name)  # refuses one that the step is not compiled for
    return list(asked)


def _check_shapes(spec: KernelSpec, asked: Sequence[Shape] | None) -> None:
    if any(len(shape) != 3 for shape in asked or ()):
        raise ArgumentError(f"shapes: got {asked!r}, each is (M, N, K)")
    for shape in asked or ():
        spec.check_sizes(*shape)
