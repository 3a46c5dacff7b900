"""What the values of a wrong C say of the small matrices that tensor cores take and give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .compare import Problem, explained

if TYPE_CHECKING:
    import torch

_ROWS, _COLUMNS = 16, 8  # of an mma.sync's result
_FACTOR = {
    8: "a row-major B needs ldmatrix with _trans, and a row-major A needs it without",
    16: "let the fragment say how its matrix lies in memory, wmma::row_major or wmma::col_major",
}


def fragments_in(given: Problem, alpha: float) -> str:
    """A sentence if C is what a mistake with small matrices makes of A and B, else ""."""
    return explained(given, alpha, _others)


def _others(
    A: torch.Tensor, B: torch.Tensor, product: torch.Tensor
) -> Iterator[tuple[torch.Tensor, str]]:
    """Products that are wrong, and what makes them."""
    for size, remedy in _FACTOR.items():
        which = f"with the {size}x{size} matrices of"
        if fits(B, size, size):
            yield A @ turned(B, size), f"it is the product {which} B transposed: {remedy}"
        if fits(A, size, size):
            yield turned(A, size) @ B, f"it is the product {which} A transposed: {remedy}"
        if fits(product, size, size):
            said = f"each {size}x{size} of C is transposed"
            yield (
                turned(product, size),
                f"{said}: exchange row and column in the store, or say wmma::mem_row_major",
            )
    if fits(product, _ROWS, _COLUMNS):
        yield (
            exchanged(product),
            "in each 16x8 of C, registers 1 and 2 are exchanged: register r of a lane has row "
            "lane / 4 + r / 2 * 8 and column lane % 4 * 2 + r % 2",
        )


def fits(matrix: torch.Tensor, rows: int, columns: int) -> bool:
    """Whether a matrix consists of whole small ones."""
    return not (matrix.shape[0] % rows or matrix.shape[1] % columns)


def turned(matrix: torch.Tensor, size: int) -> torch.Tensor:
    """The same with each matrix of `size` rows and columns in it transposed."""
    rows, columns = matrix.shape
    small = matrix.reshape(rows // size, size, columns // size, size)
    return small.transpose(1, 3).reshape(rows, columns)


def exchanged(matrix: torch.Tensor) -> torch.Tensor:
    """The same with registers 1 and 2 of each lane exchanged, of which each 16x8 has four."""
    rows, columns = matrix.shape
    halves = matrix.reshape(rows // _ROWS, 2, _ROWS // 2, columns // _COLUMNS, _COLUMNS // 2, 2)
    return halves.transpose(1, 5).reshape(rows, columns)
