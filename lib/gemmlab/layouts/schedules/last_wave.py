"""How hgemm_19_stream_k shares the work out: only the tiles of the last wave are cut, if it pays.

The same integers as `Schedule` in the kernel's file, to which tests hold it equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.arguments import integer
from .stream_k import StreamK

SMS = 132  # of an H200, with one block each
MIN_SHARE = 32  # k tiles


@dataclass(frozen=True)
class LastWave(StreamK):
    """`tiles` tiles of C, `k_tiles` k tiles each, for at most `most` blocks that run together.

    The tiles of the incomplete wave are cut if that saves `min_share` k tiles of time, and then
    into stretches of at least as many. Raises ArgumentError, naming the argument.
    """

    most: int = SMS
    min_share: int = MIN_SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("min_share", self.min_share, 1)

    @property
    def rest(self) -> int:
        """Tiles of the last wave, if it is incomplete."""
        return self.tiles % self.most

    @property
    def sharers(self) -> int:
        """Blocks that begin with a stretch of the tiles that are cut."""
        row = self.rest * self.k_tiles
        enough = min(self.most, row // self.min_share)
        return enough if enough and self.k_tiles - row // enough >= self.min_share else 0

    @property
    def split(self) -> int:
        """Tiles of C whose k tiles are shared out."""
        return self.rest if self.sharers else 0

    @property
    def blocks(self) -> int:
        """Blocks that are launched."""
        return max(1, min(self.most, self.tiles), self.sharers)

    def begin(self, block: int) -> int:
        """First k tile of a block's stretch, counted through all split tiles."""
        if not self.sharers:
            return 0
        length, longer = divmod(self.split * self.k_tiles, self.sharers)
        return min(block, self.sharers) * length + min(block, longer)

    def owner(self, x: int) -> int:
        """The block whose stretch contains k tile x."""
        length, longer = divmod(self.split * self.k_tiles, self.sharers)
        return max(x // (length + 1), (x - longer) // length)
