"""Sizes as `lab.bench`, `lab.tune` and `lab.estimate` take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core import arguments
from ..core.errors import ArgumentError

Sizes = int | Sequence[int | tuple[int, int, int]]


def shapes_of(sizes: Sizes) -> list[tuple[int, int, int]]:
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
