"""What the values of a wrong C say of the k tiles that its kernel has multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from .compare import Problem, explained

if TYPE_CHECKING:
    import torch

_ADDRESS = "does its address contain the k at which the tile begins?"


def k_tiles_in(given: Problem, alpha: float, depth: int) -> str:
    """A sentence if C is what a mistake with whole k tiles makes of A and B, else "".

    depth: of a k tile.
    """
    K = given.A.matrix.shape[1]
    if not 1 < depth < K or K % depth:
        return ""
    return explained(given, alpha, partial(_others, depth))


def _others(
    depth: int, A: torch.Tensor, B: torch.Tensor, product: torch.Tensor
) -> Iterator[tuple[torch.Tensor, str]]:
    """Products that are wrong, and what makes them."""
    tiles = A.shape[1] // depth
    first = A[:, :depth] @ B[:depth]
    last = A[:, -depth:] @ B[-depth:]
    yield (
        last,
        "C has only the last k tile: set the sums to zero once, before the loop over k tiles",
    )
    yield (
        first,
        "C has only the first k tile: does the loop go on to K, and do the later copies begin "
        "inside of A and B (outside of a matrix, a box is filled with zeros)?",
    )
    yield (
        A[:, :depth] @ B.reshape(tiles, depth, -1).sum(0),
        f"every k tile of B is multiplied with the first one of A: look at A's copy, {_ADDRESS}",
    )
    yield (
        A.reshape(-1, tiles, depth).sum(1) @ B[:depth],
        f"every k tile of A is multiplied with the first one of B: look at B's copy, {_ADDRESS}",
    )
    again = "the first k tile is multiplied again and again"
    yield tiles * first, f"{again}: look at the copies, {_ADDRESS}"
    yield product - last, "the last k tile is missing: does the loop end one too early?"
    yield product - first, "the first k tile is missing: is it copied and multiplied as well?"
    yield (
        product - last + first,
        "every step but the first multiplies the k tile before its own: look at the stage that it "
        "reads, and at the one that the copy fills",
    )
