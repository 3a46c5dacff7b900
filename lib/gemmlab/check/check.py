"""Is a step right? Many shapes, alpha and beta, a poisoned output, an fp64 reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import sim
from ..core.errors import (
    ArgumentError,
    BackendError,
    ContextLostError,
    LaunchError,
    RefusedError,
    SlowRunError,
)
from ..core.precision import Precision, precision
from ..gpu import requirements
from ..gpu.sandbox import context_watch
from ..run.backend import default_backend, why_no_gpu
from ..run.kernel import Kernel, matrices
from ..run.kernel import kernel as handle_of
from ..steps.spec import KernelSpec
from .report import Case, CheckReport

if TYPE_CHECKING:
    import torch

# (alpha, beta): plain product, scaling alone, accumulation, alpha = 0 (C must only be scaled).
ALPHA_BETA = ((1.0, 0.0), (0.5, 0.0), (1.25, -2.0), (0.0, 1.0))

# Unit roundoff of fp32 is 2**-24. Rounding errors of a sum of K products grow like K * 2**-24 times
# the standard deviation; eight of them leave room for every order of summation, and TF32 inputs
# (2**-11 each) are far outside for any K below a million.
TOLERANCE = 8 * 2.0**-24
# Tensor cores cut off what does not fit into the sum, instead of rounding it: errors of one sign.
TOLERANCE_16_BIT = 4 * TOLERANCE

# Each configuration of a step, and each precision but the first, runs every shape with these; the
# step's own choice with all.
CONFIG_FACTORS = (1.25, -2.0)


@context_watch()
def check(
    kernel: str | KernelSpec | Kernel,
    shapes: list[tuple[int, int, int]] | None = None,
    device: str | None = None,
    *,
    precisions: Sequence[str] | None = None,
    allow_slow: bool = False,
) -> CheckReport:
    """Run a step on `shapes` (M, N, K) x alpha, beta and compare with an fp64 reference.

    Inputs are normal random, the output starts as NaN, and NaN in C must not matter when beta is 0.
    Of a step with configurations, all are checked, unless `kernel` names one. A configuration may
    refuse shapes, but not all of them.

    device: "cuda" or "cpu" (the simulator); None: the GPU if there is one. On the simulator the
    first shape is also traced for races and other findings. precisions: some of those that a step
    of 16-bit types is compiled for, ["bf16"]; the first runs with all alpha and beta, the others
    with one pair. allow_slow: let a run on the simulator take longer than a minute; without it such
    a shape raises SlowRunError. Raises ArgumentError for shapes and devices, BackendError.
    """
    handle = handle_of(kernel)
    device = _device(device)
    backend = "gpu" if device == "cuda" else "sim"
    shapes = _shapes(handle.spec, shapes, backend)
    if backend == "gpu":
        requirements.require(handle)
    first, *others = _precisions(handle.spec, precisions)
    how = _How(first, device, allow_slow)
    cases = [_case(handle, shape, factors, how) for shape in shapes for factors in ALPHA_BETA]
    for other in others:
        how_else = replace(how, precision=other)
        cases += [_case(handle, shape, CONFIG_FACTORS, how_else) for shape in shapes]
    handles = [handle]
    for config in () if handle.config else handle.spec.configs:
        handles.append(handle_of(handle, config))
        cases += _config_cases(handles[-1], shapes, how)
    findings: dict[str, None] = {}
    for one in handles if backend == "sim" else ():
        findings |= dict.fromkeys(_findings(one, shapes, how))
    return CheckReport(handle.title, backend, tuple(cases), tuple(findings))


def _device(asked: str | None) -> str:
    if asked not in (None, "cuda", "cpu"):
        raise ArgumentError(f"device: got {asked!r}, allowed are 'cuda' and 'cpu'")
    if asked == "cuda" and (lacks := why_no_gpu()):
        raise BackendError(f"device: {lacks}; device='cpu' checks on the simulator")
    return asked or ("cuda" if default_backend() == "gpu" else "cpu")


@dataclass(frozen=True)
class _How:
    """In which types, where, and whether it may take long."""

    precision: str
    device: str
    allow_slow: bool


def _precisions(spec: KernelSpec, asked: Sequence[str] | None) -> list[str]:
    if asked is None:
        return list(spec.precisions)
    if not asked or isinstance(asked, str):
        raise ArgumentError(f"precisions: got {asked!r}; expected a list such as ['bf16']")
    for name in asked:
        spec.template_arguments(name)  # refuses one that the step is not compiled for
    return list(asked)


def _shapes(
    spec: KernelSpec, asked: list[tuple[int, int, int]] | None, backend: str
) -> list[tuple[int, int, int]]:
    if any(len(shape) != 3 for shape in asked or ()):
        raise ArgumentError(f"shapes: got {asked!r}, each is (M, N, K)")
    return asked or default_shapes(spec, backend)


def default_shapes(spec: KernelSpec, backend: str) -> list[tuple[int, int, int]]:
    """The smallest shape the step takes, non-square ones, and on a GPU one that fills it."""
    m, n, k = spec.multiple_of
    if (m, n, k) == (1, 1, 1):
        shapes = [(1, 1, 1), (33, 65, 17), (64, 40, 96)]
        BM, BN, BK = spec.tile
        if max(BM, BN) > 64:  # a whole tile and edges on all sides; whole tiles but for their K
            shapes = [(BM + 3, BN + 1, 2 * BK + 1), (BM, BN, BK + 8), *shapes]
        return shapes + ([(1030, 517, 259)] if backend == "gpu" else [])
    shapes = [(m, n, k), (2 * m, n, 3 * k), (m, 3 * n, 2 * k)]
    if spec.multiple_of != spec.tile:  # edges, and more tiles of k than there are stages; ragged k
        BM, BN, BK = spec.tile
        large = ((BM + 3, BN + 1, 4 * BK + 1), (BM, BN, BK + 1))
        shapes = [*(_rounded_up(shape, spec.multiple_of) for shape in large), *shapes]
    if spec.workspace:  # long enough in K that tiles of C are cut, if the step cuts them
        shapes.append((m, 2 * n, 80 * k))
    return shapes + ([(8 * m, 6 * n, 40 * k)] if backend == "gpu" else [])


def _rounded_up(
    shape: tuple[int, int, int], multiples: tuple[int, int, int]
) -> tuple[int, int, int]:
    M, N, K = (-(-n // of) * of for n, of in zip(shape, multiples, strict=True))
    return M, N, K


def _config_cases(handle: Kernel, shapes: list[tuple[int, int, int]], how: _How) -> list[Case]:
    """A configuration at the shapes that it takes."""
    cases, refused = [], []
    for shape in shapes:
        try:
            case = _case(handle, shape, CONFIG_FACTORS, how, refusable=True)
        except RefusedError as error:
            refused = [_failed(shape, CONFIG_FACTORS, str(error), how)]
        else:
            cases.append(case)
    return [replace(case, config=handle.config) for case in cases or refused]


def _failed(shape: tuple[int, int, int], factors: tuple[float, float], why: str, how: _How) -> Case:
    return Case(*shape, *factors, math.inf, why, precision=how.precision)


def _case(
    handle: Kernel,
    shape: tuple[int, int, int],
    factors: tuple[float, float],
    how: _How,
    refusable: bool = False,
) -> Case:
    import torch

    (M, N, K), (alpha, beta), types = shape, factors, precision(how.precision)
    A, B = matrices(M, N, K, device=how.device, seed=M * 31 + N * 7 + K, dtype=types.given)
    made = getattr(torch, types.made)
    C = torch.full((M, N), math.nan, dtype=made, device=how.device)
    if beta != 0:
        C = torch.randn(M, N, generator=torch.Generator().manual_seed(1)).to(how.device, made)
    wide, allowed = _reference(A, B, C, factors, types)
    try:
        handle(A, B, alpha=alpha, beta=beta, out=C, allow_slow=how.allow_slow)
    except (SlowRunError, ContextLostError):
        raise
    except LaunchError as stopped:
        if refusable and isinstance(stopped, RefusedError):
            raise
        return _failed(shape, factors, str(stopped), how)
    error = ((C.double() - wide).abs() / allowed).nan_to_num(nan=math.inf)
    problem = _describe(handle.spec, C, wide, error)
    return Case(M, N, K, alpha, beta, float(error.max()), problem, precision=types.name)


def _reference(
    A: torch.Tensor,
    B: torch.Tensor,
    C: torch.Tensor,
    factors: tuple[float, float],
    types: Precision,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The result in fp64, and the error that each element may have."""
    import torch

    (alpha, beta), (wide_a, wide_b) = factors, (A.double(), B.double())
    wide = alpha * (wide_a @ wide_b)
    limit = abs(alpha) * wide_a.norm(dim=1)[:, None] * wide_b.norm(dim=0)[None, :]
    if beta != 0:
        wide += beta * C.double()
        limit += abs(beta) * C.double().abs()
    # An exact zero is allowed no error at all; the smallest normal number keeps 0 / 0 out.
    smallest = torch.finfo(C.dtype).tiny
    if types.given == "float32":
        return wide, TOLERANCE * limit + smallest
    return wide, TOLERANCE_16_BIT * limit + types.roundoff * wide.abs() + smallest


def _describe(spec: KernelSpec, C: torch.Tensor, wide: torch.Tensor, error: torch.Tensor) -> str:
    """Where and how C is wrong, or nothing if it is right."""
    wrong = error > 1
    count = int(wrong.sum())
    if not count:
        return ""
    row, col = (int(i) for i in wrong.nonzero()[0])
    BM, BN, _ = spec.tile
    nan = int(C.isnan().sum())
    never = f", {nan} of them NaN (never written, or made from NaN)" if nan else ""
    return (
        f"{count} of {C.numel()} elements wrong{never}; the first is C[{row}, {col}] = "
        f"{float(C[row, col]):.6g}, expected {float(wide[row, col]):.6g}; it is element "
        f"({row % BM}, {col % BN}) of tile ({row // BM}, {col // BN})"
    )


def _findings(handle: Kernel, shapes: list[tuple[int, int, int]], how: _How) -> tuple[str, ...]:
    """What the simulator finds at the first shape that is not refused, which is a case's matter."""
    for shape in shapes:
        try:
            trace = sim.trace(handle, *shape, precision=how.precision, allow_slow=how.allow_slow)
        except RefusedError:
            continue
        return tuple(str(finding) for finding in trace.findings)
    return ()
