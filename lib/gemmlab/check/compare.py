"""The matrices of one run, the reference in double precision, and where a result is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.precision import Precision, precision
from ..run.kernel import matrices
from ..steps.spec import KernelSpec
from .plan import Run, Shape

if TYPE_CHECKING:
    import torch

# Unit roundoff of fp32 is 2**-24. Rounding errors of a sum of K products grow like K * 2**-24 times
# the standard deviation; eight of them leave room for every order of summation, and TF32 inputs
# (2**-11 each) are far outside for any K below a million.
TOLERANCE = 8 * 2.0**-24
# Tensor cores cut off what does not fit into the sum, instead of rounding it: errors of one sign.
TOLERANCE_16_BIT = 4 * TOLERANCE

_MARGIN = 64  # elements behind a matrix
_MOST = 1 << 26  # multiplications of a product that is worth an explanation

if TYPE_CHECKING:
    Others = Callable[
        [torch.Tensor, torch.Tensor, torch.Tensor], Iterator[tuple[torch.Tensor, str]]
    ]


class Placed:
    """A matrix inside a buffer of NaN: reading past it spoils the result, writing past it shows.

    turned: it lies there as its transpose.
    """

    def __init__(self, values: torch.Tensor, offset: int, turned: bool = False) -> None:
        end = offset + values.numel()
        self._buffer = values.new_full((end + _MARGIN,), math.nan)
        self._outside = (slice(0, offset), slice(end, None))
        shape = values.t().shape if turned else values.shape
        lies = self._buffer[offset:end].view(shape)
        self.matrix = lies.t() if turned else lies
        self.matrix.copy_(values)

    def intact(self) -> bool:
        """Whether all around the matrix is as it was."""
        return all(bool(self._buffer[part].isnan().all()) for part in self._outside)


@dataclass(frozen=True)
class Problem:
    """The operands of a run, and what C is to be.

    wide: the result in fp64. allowed: the error that each element may have.
    """

    A: Placed
    B: Placed
    C: Placed
    wide: torch.Tensor
    allowed: torch.Tensor

    def error(self) -> torch.Tensor:
        """Of each element of C, as a share of what is allowed."""
        off = (self.C.matrix.double() - self.wide).abs() / self.allowed
        return off.nan_to_num(nan=math.inf)


# What the operands of a run take: A, B and C as drawn, placed and in fp64, of C also the limits.
_BYTES_A, _BYTES_C = 16, 40


def bytes_of(shape: Shape) -> list[tuple[str, int]]:
    """The bytes that a comparison takes for A, B and C."""
    M, N, K = shape
    return [("A", _BYTES_A * M * K), ("B", _BYTES_A * K * N), ("C", _BYTES_C * M * N)]


def problem(run: Run, device: str) -> Problem:
    """Normal random A and B, always the same for a shape; NaN in C where it is not read."""
    import torch

    (M, N, _), (_, beta), types = run.shape, run.factors, precision(run.precision)
    given = _given(run.shape, types.given, device)
    made = getattr(torch, types.made)
    C = torch.full((M, N), math.nan, dtype=made, device=device)
    if beta != 0:
        C = torch.randn(M, N, generator=torch.Generator().manual_seed(1)).to(device, made)
    three = (given.A, given.B, C)
    turned = (letter == "t" for letter in f"{run.layout}n")
    a, b, c = map(Placed, three, run.offsets, turned)
    return Problem(a, b, c, *_reference(given, C, run.factors, types))


@dataclass(frozen=True)
class _Given:
    """A and B of a shape, their product in fp64, and for each of its elements |row| |column|."""

    A: torch.Tensor
    B: torch.Tensor
    product: torch.Tensor
    lengths: torch.Tensor


@lru_cache(maxsize=2)  # runs of one shape follow each other
def _given(shape: Shape, dtype: str, device: str) -> _Given:
    M, N, K = shape
    A, B = matrices(M, N, K, device=device, seed=M * 31 + N * 7 + K, dtype=dtype)
    wide_a, wide_b = A.double(), B.double()
    lengths = wide_a.norm(dim=1)[:, None] * wide_b.norm(dim=0)[None, :]
    return _Given(A, B, wide_a @ wide_b, lengths)


def _reference(
    given: _Given, C: torch.Tensor, factors: tuple[float, float], types: Precision
) -> tuple[torch.Tensor, torch.Tensor]:
    """The result in fp64, and the error that each element may have."""
    import torch

    alpha, beta = factors
    wide, limit = alpha * given.product, abs(alpha) * given.lengths
    if beta != 0:
        wide += beta * C.double()
        limit += abs(beta) * C.double().abs()
    # An exact zero is allowed no error at all; the smallest normal number keeps 0 / 0 out.
    smallest = torch.finfo(C.dtype).tiny
    if types.given == "float32":
        return wide, TOLERANCE * limit + smallest
    return wide, TOLERANCE_16_BIT * limit + types.roundoff * wide.abs() + smallest


def explained(given: Problem, alpha: float, others: Others) -> str:
    """The sentence of the first of `others` that C is equal to, but for rounding; else "".

    others: of A, B and their product in fp64 products that are wrong, and what makes them.
    """
    A, B = given.A.matrix.double(), given.B.matrix.double()
    if not alpha or not 0 < A.numel() * B.shape[1] <= _MOST:
        return ""
    product = A @ B
    made = (given.C.matrix.double() - given.wide) / alpha + product
    allowed = 2 * given.allowed / abs(alpha)
    for other, what in others(A, B, product):
        if bool(((made - other).abs() <= allowed).all()):
            return what
    return ""


def describe(spec: KernelSpec, given: Problem, error: torch.Tensor, config: str = "") -> str:
    """Where and how C is wrong, or nothing if it is right."""
    C, wrong = given.C.matrix, error > 1
    count = int(wrong.sum())
    if not count:
        return "" if given.C.intact() else "it writes outside of C"
    row, col = (int(i) for i in wrong.nonzero()[0])
    BM, BN, _ = spec.tile_of(config)
    nan = int(C.isnan().sum())
    if nan == C.numel():
        return (
            "all of C is NaN, as it was before the launch: nothing was written, or all of it was "
            "made from NaN; look at the store to C, at the grid, and whether C is read with beta 0"
        )
    never = f", {nan} of them NaN (never written, or made from NaN)" if nan else ""
    said = (
        f"{count} of {C.numel()} elements wrong{never}; the first is C[{row}, {col}] = "
        f"{float(C[row, col]):.6g}, expected {float(given.wide[row, col]):.6g}"
    )
    if (BM, BN) == (1, 1):  # of a kernel that does not say what its tile is
        return said
    place = f"element ({row % BM}, {col % BN}) of tile ({row // BM}, {col // BN})"
    return f"{said}; it is {place}"
