"""A tile of C that walks along k: what its block loads, and how that falls as the tile grows.

`widgets/model/traffic/block_tile.js` computes the same; tests hold the two equal, sentences
included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.arguments import integer
from ...core.errors import ArgumentError
from .words import plural, quotient


@dataclass(frozen=True)
class BlockTile:
    """A product of matrices of n x n, computed in tiles of tile x tile x tile.

    Raises ArgumentError unless the tile divides n.
    """

    n: int
    tile: int

    def __post_init__(self) -> None:
        integer("n", self.n, 1, 4096)
        integer("tile", self.tile, 1, self.n)
        if self.n % self.tile:
            raise ArgumentError(f"tile: got {self.tile}, expected a divisor of n, {self.n}")

    @property
    def steps(self) -> int:
        """Tiles along k."""
        return self.n // self.tile

    @property
    def blocks(self) -> int:
        """Tiles of C."""
        return self.steps**2

    @property
    def loaded(self) -> int:
        """Values of A and B that all blocks load."""
        return self.blocks * self.loaded_after(self.steps)

    def loaded_after(self, step: int) -> int:
        """Values of A and B that one block has loaded after `step` tiles along k."""
        return 2 * self.tile**2 * step

    def fmas_after(self, step: int) -> int:
        """FMAs that one block has done after `step` tiles along k."""
        return self.tile**3 * step

    def describe(self, step: int) -> str:
        """What one block has loaded and computed after `step` tiles along k, in two sentences."""
        done = f"{plural(step, 'tile')} of {self.steps} along k"
        loads = plural(self.loaded_after(step), "value")
        fmas = plural(self.fmas_after(step), "FMA")
        uses = quotient(self.tile, 2)
        return (
            f"After {done} the block has loaded {loads} and done {fmas}. Each value serves "
            f"{plural(self.tile, 'FMA')}: {uses} for each load, as an FMA takes two values."
        )
