"""How sgemm_19_stream_k shares the work out: which block does which k tiles of which tile of C.

The same integers as `Schedule` in the kernel's file, to which tests hold it equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core.errors import ArgumentError

MIN_SHARE = 8  # k tiles


@dataclass(frozen=True)
class Piece:
    """k tiles `begin` to `end` - 1 of a tile of C, done by a block from time `start` on."""

    block: int
    tile: int
    begin: int
    end: int
    start: int  # k tiles that the block has done before


@dataclass(frozen=True)
class Schedule:
    """`tiles` tiles of C, `k_tiles` k tiles each, for at most `most` blocks that run together.

    The k tiles of the first `split` tiles stand in one row and are shared out evenly; whole tiles
    follow. min_share: the fewest k tiles of a share. Raises ArgumentError, naming the argument.
    """

    tiles: int
    k_tiles: int
    most: int = 264
    min_share: int = MIN_SHARE

    def __post_init__(self) -> None:
        for name, low in (("tiles", 0), ("k_tiles", 0), ("most", 1), ("min_share", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ArgumentError(f"{name}: got {value!r}, allowed is an integer from {low} on")

    @property
    def blocks(self) -> int:
        """Blocks that are launched."""
        enough = max(self.tiles, min(self.tiles * self.k_tiles // self.min_share, 1 << 30))
        return max(1, min(self.most, enough))

    @property
    def split(self) -> int:
        """Tiles of C whose k tiles are shared out."""
        rest = self.tiles % self.blocks
        full = rest == 0 or rest >= self.blocks - self.blocks // 20  # to within 5 %
        return 0 if full or self.k_tiles == 0 else min(self.tiles, rest + self.blocks)

    def begin(self, block: int) -> int:
        """First k tile of a block's share, counted through all split tiles."""
        return self.split * self.k_tiles * block // self.blocks

    def owner(self, x: int) -> int:
        """The block whose share contains k tile x."""
        return ((x + 1) * self.blocks - 1) // (self.split * self.k_tiles)

    def pieces(self, block: int) -> list[Piece]:
        """What a block does, in its order: pieces of split tiles, then whole ones."""
        found, at, end = [], self.begin(block), self.begin(block + 1)
        first = at
        while at < end:
            tile, begin = divmod(at, self.k_tiles)
            stop = min(self.k_tiles, begin + end - at)
            found.append(Piece(block, tile, begin, stop, at - first))
            at += stop - begin
        done = end - first
        whole = range(self.split + block, self.tiles, self.blocks)
        return found + [
            Piece(block, tile, 0, self.k_tiles, done + i * self.k_tiles)
            for i, tile in enumerate(whole)
        ]

    def everything(self) -> list[Piece]:
        """The pieces of all blocks."""
        return [piece for block in range(self.blocks) for piece in self.pieces(block)]

    @property
    def parts(self) -> int:
        """Pieces that are less than a tile: each is left in the workspace."""
        return sum(p.end - p.begin < self.k_tiles for p in self.everything())

    @property
    def longest(self) -> int:
        """k tiles of the block that has most: the time, if one takes the same everywhere."""
        return max((p.start + p.end - p.begin for p in self.everything()), default=0)


def whole_tiles(tiles: int, k_tiles: int, most: int = 264) -> list[Piece]:
    """The same work without splitting: block after block takes the next tile, wave by wave."""
    return [Piece(t % most, t, 0, k_tiles, t // most * k_tiles) for t in range(tiles)]


def waves_paid(tiles: int, most: int = 264) -> int:
    """Waves of whole tiles, the last one counted in full.

    tiles: of C, one for each block. most: blocks that run together.
    """
    return math.ceil(tiles / most)
