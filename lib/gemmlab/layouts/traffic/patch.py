"""One load of a warp from a row-major matrix of floats: the sectors that its 32 lanes touch.

`widgets/model/traffic/patch.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...core.arguments import choice, integer
from ..shared.banks import SECTOR_BYTES, WARP
from .words import plural

FLOAT = 4  # bytes of an element
PER_SECTOR = SECTOR_BYTES // FLOAT
SHAPES = tuple(2**i for i in reversed(range(6)))  # rows of lanes: 32, 16, ..., 1


@dataclass(frozen=True)
class Patch:
    """32 lanes in `rows` rows, side by side in each; lane 0 reads element (row, column).

    Rows of the matrix begin at multiples of a sector. Raises ArgumentError for another shape.
    """

    rows: int
    row: int = 0
    column: int = 0

    def __post_init__(self) -> None:
        choice("rows", self.rows, SHAPES)
        integer("row", self.row, 0)
        integer("column", self.column, 0)

    @property
    def columns(self) -> int:
        """Lanes in a row."""
        return WARP // self.rows

    def place(self, lane: int) -> tuple[int, int]:
        """Row and column of the element that a lane reads."""
        return self.row + lane // self.columns, self.column + lane % self.columns

    def sectors(self) -> dict[tuple[int, int], int]:
        """(row, sector of the row) -> elements of it that lanes read, in the order of the lanes."""
        places = (self.place(lane) for lane in range(WARP))
        return dict(Counter((row, column // PER_SECTOR) for row, column in places))

    @property
    def moved(self) -> int:
        """Bytes of all sectors."""
        return len(self.sectors()) * SECTOR_BYTES

    @property
    def percent(self) -> int:
        """Share of the moved bytes that some lane reads, rounded, halves up."""
        return (200 * WARP * FLOAT + self.moved) // (2 * self.moved)

    def describe(self) -> str:
        """The shape, its sectors and what of them is used, in a sentence."""
        shape = f"{plural(self.rows, 'row')} of {plural(self.columns, 'lane')}"
        found = plural(len(self.sectors()), "sector")
        return (
            f"{shape} from column {self.column} on: {found}, {self.moved:,} bytes moved for "
            f"{WARP * FLOAT} that are read, {self.percent} %."
        )
