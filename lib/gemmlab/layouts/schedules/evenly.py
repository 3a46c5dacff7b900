"""How sgemm_19_stream_k shares the work out: which block does which k tiles of which tile of C.

The same integers as `Schedule` in the kernel's file, to which tests hold it equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core.arguments import integer
from .stream_k import StreamK

MIN_SHARE = 8  # k tiles


@dataclass(frozen=True)
class Schedule(StreamK):
    """`tiles` tiles of C, `k_tiles` k tiles each, for at most `most` blocks that run together.

    The k tiles of the first `split` tiles form one row and are shared out evenly, `min_share`
    or more to a block; whole tiles follow. Raises ArgumentError, naming the argument.
    """

    most: int = 264
    min_share: int = MIN_SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("min_share", self.min_share, 1)

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


def waves_paid(tiles: int, most: int = 264) -> int:
    """Waves of whole tiles, the last one counted in full.

    tiles: of C, one for each block. most: blocks that run together, at least 1. Raises
    ArgumentError.
    """
    integer("tiles", tiles, 0)
    integer("most", most, 1)
    return math.ceil(tiles / most)
