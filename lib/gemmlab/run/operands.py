"""The tensors of a call: refuse what a step cannot take, and say what it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.arguments import factor
from ..core.errors import ArgumentError
from ..core.memory import check_memory
from ..core.precision import PRECISIONS, of_types
from ..steps.spec import LAYOUT_STEPS, TURNED_A_STEPS, KernelSpec

if TYPE_CHECKING:
    import numpy as np
    import torch


def prepare(spec: KernelSpec, A, B, alpha, beta, out) -> torch.Tensor:
    """Refuse what the step cannot take; return `out`, made if it was not given.

    Raises ArgumentError, which names the argument and what to do.
    """
    for name, value in (("alpha", alpha), ("beta", beta)):
        factor(name, value)
    spec.check_factors(alpha, beta)
    for name, t, other in (("A", A, B), ("B", B, A)):
        _check_tensor(spec, name, t, spec.dtypes, other)
    if B.device != A.device or B.dtype != A.dtype:
        raise ArgumentError(
            f"B: is {B.dtype} on {B.device}, but A is {A.dtype} on {A.device}; "
            "use B.to(A.device, A.dtype)"
        )
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    if B.shape[0] != K:
        raise ArgumentError(
            f"B: has {B.shape[0]} rows, but A has {K} columns; A @ B needs them equal"
        )
    _check_layout(spec, A, B)
    spec.check_sizes(M, N, K)
    if out is None:
        if beta != 0:
            raise ArgumentError(
                f"out: beta={beta} adds beta * out to the result, so pass the matrix C as out=C"
            )
        return _made(M, N, A)
    _check_tensor(spec, "out", out, _results(spec, _dtype(A)))
    _check_out(A, B, out, (M, N))
    return out


def layout(A: torch.Tensor, B: torch.Tensor) -> str:
    """How A and B lie in memory, which have been checked: "nt" if only B is a transposed view."""
    return "".join("n" if t.is_contiguous() else "t" for t in (A, B))


def _check_layout(spec: KernelSpec, A, B) -> None:
    """Raise ArgumentError for a transposed view that the step does not take."""
    found = layout(A, B)
    if found in spec.layouts:
        return
    name, t, steps, turned = (
        ("B", B, LAYOUT_STEPS, "(N, K)")
        if "n" + found[1] not in spec.layouts
        else ("A", A, TURNED_A_STEPS, "(K, M)")
    )
    able = steps.get(spec.family, spec.name)
    other = f", or {able}, which takes {name} as {turned}" if able != spec.name else ""
    raise ArgumentError(
        f"{name}: is not contiguous (strides {tuple(t.stride())}), a transposed view, and "
        f"{spec.name} takes {name} row-major; use {name}.contiguous(){other}"
    )


def _made(M: int, N: int, A: torch.Tensor) -> torch.Tensor:
    """C, where the caller gave none."""
    import torch

    if A.device.type == "cpu":
        check_memory("out", [("C", M * N * A.element_size())])
    try:
        return torch.empty(M, N, dtype=A.dtype, device=A.device)
    except torch.OutOfMemoryError:
        raise ArgumentError(
            f"out: {A.device} has no memory left for a {M}x{N} matrix C; use smaller M and N"
        ) from None


def precision(A: torch.Tensor, C: torch.Tensor) -> str:
    """The name of the precision of A, B and C, which have been checked."""
    found = of_types(_dtype(A), _dtype(C))
    assert found is not None
    return found.name


def array(t: torch.Tensor) -> np.ndarray:
    """The tensor as NumPy, which has no bfloat16: as integers. Of a transposed view what it is a
    view of: as it lies in memory.

    It is a view of all elements of the tensor's memory, so that it says where in it it begins.
    """
    import torch

    t = t.detach() if t.is_contiguous() else t.detach().t()
    t = t.view(torch.uint16) if t.dtype == torch.bfloat16 else t
    start = t.storage_offset()
    whole = t.as_strided((start + t.numel(),), (1,), 0).numpy()
    return whole[start:].reshape(t.shape)


def _dtype(t) -> str:
    return str(t.dtype).removeprefix("torch.")


def _results(spec: KernelSpec, given: str) -> list[str]:
    """The types that C may have where A and B have the type `given`."""
    all_of_it = (PRECISIONS[name] for name in spec.precisions)
    return [types.made for types in all_of_it if types.given == given]


def _remedy(dtypes: Sequence[str], other) -> str:
    """The type to turn a tensor into: that of the other operand, if the step takes it."""
    there = _dtype(other) if hasattr(other, "dtype") else ""
    return there if there in dtypes else dtypes[0]


def _check_tensor(spec: KernelSpec, name: str, t, dtypes: Sequence[str], other=None) -> None:
    import torch

    if not isinstance(t, torch.Tensor):
        raise ArgumentError(
            f"{name}: got {type(t).__name__}, expected a torch.Tensor; use torch.as_tensor({name})"
        )
    if t.layout != torch.strided:
        layout = str(t.layout).removeprefix("torch.")
        raise ArgumentError(
            f"{name}: is stored as {layout}, expected a dense matrix; use {name}.to_dense()"
        )
    if t.device.type not in ("cuda", "cpu"):
        raise ArgumentError(f"{name}: is on {t.device}; allowed are cuda (GPU) and cpu (simulator)")
    if _dtype(t) not in dtypes:
        raise ArgumentError(
            f"{name}: is {_dtype(t)}, {spec.name} takes {' or '.join(dtypes)}; "
            f"use {name}.to(torch.{_remedy(dtypes, other)})"
        )
    if t.dim() != 2:
        raise ArgumentError(
            f"{name}: has {t.dim()} dimensions, expected 2 (a matrix); use "
            f"{name}.reshape(rows, columns)"
        )
    if t.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(
            f"{name}: requires a gradient, which these kernels do not compute; use "
            f"{name}.detach(), or call it in torch.no_grad()"
        )
    _check_strides(name, t)
    if t.data_ptr() % spec.alignment:
        raise ArgumentError(
            f"{name}: its address is {t.data_ptr() % spec.alignment} bytes past a multiple of "
            f"{spec.alignment}, and {_why_aligned(spec)}; use {name}.clone()"
        )


def _check_strides(name: str, t: torch.Tensor) -> None:
    """Raise ArgumentError unless it lies in one piece; A and B may be turned."""
    if t.is_contiguous() or (name != "out" and t.t().is_contiguous()):
        return
    views = " or a transposed view of such a matrix" if name != "out" else ""
    raise ArgumentError(
        f"{name}: is not contiguous (strides {tuple(t.stride())}), expected row-major{views}; "
        f"use {name}.contiguous()"
    )


def _why_aligned(spec: KernelSpec) -> str:
    if spec.family in ("tma", "wgmma"):
        return f"the tensor maps and stores of {spec.name} begin at such multiples"
    return f"{spec.name} loads {spec.alignment} bytes at a time"


def _check_out(A, B, out, shape: tuple[int, int]) -> None:
    if tuple(out.shape) != shape:
        raise ArgumentError(f"out: has shape {tuple(out.shape)}, expected {shape}")
    if out.device != A.device:
        raise ArgumentError(f"out: is on {out.device}, expected {A.device}, where A is")
    for name, t in (("A", A), ("B", B)):
        starts = max(t.data_ptr(), out.data_ptr())
        ends = min(t.data_ptr() + t.nbytes, out.data_ptr() + out.nbytes)
        if starts < ends:
            raise ArgumentError(f"out: shares memory with {name}; the kernel would overwrite it")
