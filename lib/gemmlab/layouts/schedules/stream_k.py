"""What all stream-K schedules have: pieces of tiles, and which block does which of them."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.arguments import integer


@dataclass(frozen=True)
class Piece:
    """k tiles `begin` to `end` - 1 of a tile of C, done by a block from time `start` on."""

    block: int
    tile: int
    begin: int
    end: int
    start: int  # k tiles that the block has done before


@dataclass(frozen=True)
class StreamK:
    """`tiles` tiles of C, `k_tiles` k tiles each, for at most `most` blocks that run together.

    A subclass says how many tiles are split, how many blocks there are, and which k tiles of the
    split tiles a block does. Raises ArgumentError, naming the argument.
    """

    tiles: int
    k_tiles: int
    most: int

    def __post_init__(self) -> None:
        integer("tiles", self.tiles, 0)
        integer("k_tiles", self.k_tiles, 0)
        integer("most", self.most, 1)

    @property
    def split(self) -> int:
        """Tiles of C whose k tiles are shared out."""
        raise NotImplementedError

    @property
    def blocks(self) -> int:
        """Blocks that are launched."""
        raise NotImplementedError

    def begin(self, block: int) -> int:
        """First k tile of a block's share, counted through all split tiles."""
        raise NotImplementedError

    def owner(self, x: int) -> int:
        """The block whose share contains k tile x of the split tiles."""
        raise NotImplementedError

    def shared(self, block: int) -> list[Piece]:
        """A block's pieces of split tiles, in its order."""
        found, at, end = [], self.begin(block), self.begin(block + 1)
        first = at
        while at < end:
            tile, begin = divmod(at, self.k_tiles)
            stop = min(self.k_tiles, begin + end - at)
            found.append(Piece(block, tile, begin, stop, at - first))
            at += stop - begin
        return found

    def pieces(self, block: int) -> list[Piece]:
        """What a block does, in its order: pieces of split tiles, then whole tiles."""
        found = self.shared(block)
        done = found[-1].start + found[-1].end - found[-1].begin if found else 0
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
