"""How tma_07_stream_k shares the work out: each tile of the last wave has an owner, others help.

The same integers as `Schedule` in kernels/common/order/stream_k.cuh, to which tests hold it equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...core.arguments import integer
from .last_wave import SMS
from .stream_k import Piece, StreamK

PRICE = 6  # k tiles


@dataclass(frozen=True)
class Owners(StreamK):
    """`tiles` tiles of C, `k_tiles` k tiles each, for at most `most` blocks that run together.

    Tile t of the incomplete wave belongs to block t, which leaves its last `cut` k tiles to the
    blocks without such a tile, the helpers. All k tiles that are left form one row, and each
    helper takes an equal part of it. The number of helpers, 0 included, is the one that gives the
    least time. price: the time for a piece's traffic, in k tiles, if all blocks have a piece;
    fewer pieces take less. The latency adds half the price, rounded up, for any number of pieces.
    Raises ArgumentError, naming the argument.
    """

    most: int = SMS
    price: int = PRICE

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("price", self.price, 0)

    @cached_property
    def _cutting(self) -> tuple[int, int, int]:
        """(cut, helpers, time) of the least time for the last wave; 0, 0 if tiles stay whole."""
        over = self.tiles % self.most
        found = (0, 0, self.k_tiles if over else 0)
        for helpers in range(1, self.most - over + 1 if over else 1):
            each = (self.price + 1) // 2 + self.price * (over + helpers) // self.most
            cut = (helpers * self.k_tiles - over * each) // (over + helpers)
            time = self.k_tiles - cut + each * (1 + helpers // over)
            if cut > 0 and over * cut >= helpers and time < found[2]:
                found = cut, helpers, time
        return found

    @property
    def busiest(self) -> int:
        """Time of the block that takes longest, prices included, as the kernel counts it."""
        return self.tiles // self.most * self.k_tiles + self._cutting[2]

    @property
    def cut(self) -> int:
        """k tiles that an owner leaves to helpers, the last ones of its tile."""
        return self._cutting[0]

    @property
    def helpers(self) -> int:
        """Blocks that begin with what others left."""
        return self._cutting[1]

    @property
    def split(self) -> int:
        """Tiles of C that are cut."""
        return self.tiles % self.most if self.cut else 0

    @property
    def blocks(self) -> int:
        """Blocks that are launched."""
        return max(1, min(self.most, self.tiles + self.helpers))

    def begin(self, block: int) -> int:
        """First k tile of a helper's stretch, counted through all that was left."""
        helper = min(max(0, block - self.split), self.helpers)
        return helper * self.split * self.cut // self.helpers if self.cut else 0

    def owner(self, x: int) -> int:
        """The block whose stretch contains k tile x of what was left."""
        return self.split + ((x + 1) * self.helpers - 1) // (self.split * self.cut)

    def shared(self, block: int) -> list[Piece]:
        """A block's pieces of tiles that are cut: what it keeps of its own, then others'."""
        kept, at, end = self.k_tiles - self.cut, self.begin(block), self.begin(block + 1)
        found, done = ([Piece(block, block, 0, kept, 0)], kept) if block < self.split else ([], 0)
        while at < end:
            tile, left = divmod(at, self.cut)
            length = min(self.cut - left, end - at)
            found.append(Piece(block, tile, kept + left, kept + left + length, done))
            at, done = at + length, done + length
        return found
