"""In which order blocks take the tiles of C, and which panels those of a wave need.

A panel is what a row of tiles needs of A (BM x K elements) or a column of tiles of B (K x BN).
`widgets/model/tiling/block_order.js` computes the same; tests hold the two equal, sentences
included, and hold "strips" equal to `tile_at` of the kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core.arguments import choice, integer
from ...core.errors import ArgumentError

ORDERS = {"rows": "row by row", "strips": "strips of rows", "articles": "the published formula"}
MOST = 128  # rows or columns of tiles


@dataclass(frozen=True)
class Wave:
    """Blocks `first` to `last`: the rows and columns of tiles they need, and those outside C."""

    first: int
    last: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    outside: int

    @property
    def panels(self) -> int:
        """Distinct panels of A and B."""
        return len(self.rows) + len(self.columns)

    @property
    def tiles(self) -> int:
        """Tiles of C that are computed."""
        return self.last + 1 - self.first - self.outside


@dataclass(frozen=True)
class BlockOrder:
    """A grid of rows x columns tiles, a block for each; `slots` blocks run at the same time.

    order: "rows"; "strips", `height` rows of tiles each and column by column within (the last one
    may be lower); or "articles": strips of `height` columns, by a formula that assumes
    complete strips. A wave is `slots` blocks in a row. Raises ArgumentError, naming the argument.
    """

    rows: int
    columns: int
    order: str = "strips"
    height: int = 8
    slots: int = 264

    def __post_init__(self) -> None:
        for name, most in (("rows", MOST), ("columns", MOST), ("height", MOST), ("slots", 4096)):
            integer(name, getattr(self, name), 1, most)
        choice("order", self.order, ORDERS, quoted=True)

    @property
    def tiles(self) -> int:
        """Tiles of C, and blocks."""
        return self.rows * self.columns

    @property
    def waves(self) -> int:
        """Waves of at most `slots` blocks."""
        return math.ceil(self.tiles / self.slots)

    def place(self, t: int) -> tuple[int, int]:
        """(row, column) of block t's tile; with "articles" the column may be outside."""
        if self.order == "rows":
            return divmod(t, self.columns)
        if self.order == "articles":
            strip = t // (self.height * self.rows) * self.height
            return t // self.height % self.rows, strip + t % self.height
        strip = t // (self.height * self.columns) * self.height
        lines = min(self.height, self.rows - strip)
        within = t - strip * self.columns
        return strip + within % lines, within // lines

    def wave(self, index: int) -> Wave:
        """The index-th wave. Raises ArgumentError if there is none."""
        if not 0 <= index < self.waves:
            raise ArgumentError(f"wave: got {index!r}, there are waves 0 to {self.waves - 1}")
        first = index * self.slots
        last = min(first + self.slots, self.tiles) - 1
        places = [self.place(t) for t in range(first, last + 1)]
        inside = [at for at in places if at[1] < self.columns]
        rows = tuple(sorted({row for row, _ in inside}))
        columns = tuple(sorted({column for _, column in inside}))
        return Wave(first, last, rows, columns, len(places) - len(inside))

    def panels(self) -> int:
        """Panels of all waves: what is read if nothing is kept from one wave to the next."""
        return sum(self.wave(index).panels for index in range(self.waves))

    def never_taken(self) -> list[tuple[int, int]]:
        """The tiles that no block computes."""
        taken = {self.place(t) for t in range(self.tiles)}
        every = (divmod(t, self.columns) for t in range(self.tiles))
        return [at for at in every if at not in taken]

    def describe(self, index: int) -> str:
        """A wave in words, then the whole grid."""
        w = self.wave(index)
        few = f"block {w.first}" if w.first == w.last else f"blocks {w.first} to {w.last}"
        each = tenth(w.tiles, w.panels) if w.panels else "0"
        a, b = _many(len(w.rows), "row"), _many(len(w.columns), "column")
        text = (
            f"Wave {index + 1} of {self.waves}, {few}: {_many(w.tiles, 'tile')} in {a} and {b}. "
            f"They need {_many(w.panels, 'panel')} of A and B: {each} tiles a panel. "
            f"All waves together: {_many(self.panels(), 'panel')}. "
        )
        never = len(self.never_taken())
        if not never:
            return text + "Every tile is taken once."
        return (
            text + f"{_many(never, 'tile')} of {self.tiles} never taken, {_many(never, 'block')} "
            "outside C."
        )


def tenth(a: int, b: int) -> str:
    """a / b with one decimal, halves rounded up: integers only, so that browsers say the same."""
    tenths = (20 * a + b) // (2 * b)
    return f"{tenths // 10}.{tenths % 10}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
