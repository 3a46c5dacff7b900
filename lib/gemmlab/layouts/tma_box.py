"""Where the copy engine (TMA) puts each 16-byte chunk of a box, and what ldmatrix of them costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError
from .banks import WARP, Request, wavefronts
from .tensor_map import CHUNK, LINE, TensorMap

SIDE = 8  # rows of the matrix that ldmatrix reads in one phase


@dataclass(frozen=True)
class Chunk:
    """16 bytes of a box: row `row` of it, the chunk `chunk` of that row.

    y, x: row and column of its first element in the matrix. begin, end: its elements that lie in
    the matrix, the others are zeros. offset: bytes from the start of the tile in shared memory.
    """

    row: int
    chunk: int
    y: int
    x: int
    begin: int
    end: int
    offset: int

    @property
    def line(self) -> int:
        """Of 128 bytes."""
        return self.offset // LINE

    @property
    def slot(self) -> int:
        """Its place in the line: the group of four banks 4 slot to 4 slot + 3."""
        return self.offset % LINE // CHUNK


@dataclass(frozen=True)
class Box:
    """Where the bytes of a box stand.

    x, y: column and row of its first element in the matrix; a GPU takes an x of whole chunks only,
    and what stands where is told of any. address: where the tile begins in shared memory, in bytes.
    Raises ArgumentError unless that is a multiple of 128.
    """

    map: TensorMap
    x: int
    y: int
    address: int = 0

    def __post_init__(self) -> None:
        for name in ("x", "y", "address"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise ArgumentError(f"{name}: got {value!r}, expected an integer")
        if self.address % LINE or self.address < 0:
            raise ArgumentError(
                f"address: got {self.address}, no multiple of 128 bytes; align the tile in shared "
                f"memory, best to {self.map.alignment} bytes for the {self.map.swizzle} swizzle"
            )

    def place(self, row: ArrayLike, at: ArrayLike) -> np.ndarray | int:
        """Offset from the tile's start of byte `at` of a row of the box, or arrays of them."""
        plain = self.address + np.asarray(row) * self.map.pitch + np.asarray(at)
        moved = (plain ^ (plain >> 3 & (self.map.span - CHUNK))) - self.address
        return moved if np.ndim(row) or np.ndim(at) else int(moved)

    def place_by_row(self, row: ArrayLike, at: ArrayLike) -> np.ndarray | int:
        """The same, as a kernel finds it that XORs with the row instead of the address."""
        return Box(self.map, self.x, self.y).place(row, at)

    def chunk(self, row: int, chunk: int) -> Chunk:
        """One chunk of the box."""
        count = CHUNK // self.map.element
        x, y = self.x + chunk * count, self.y + row
        inside = range(max(0, -x), min(count, self.map.columns - x))
        begin, end = (inside.start, inside.stop) if 0 <= y < self.map.rows and inside else (0, 0)
        return Chunk(row, chunk, y, x, begin, end, self.place(row, chunk * CHUNK))

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks, row by row."""
        per_row = range(self.map.row_bytes // CHUNK)
        return tuple(self.chunk(r, c) for r in range(self.map.box_rows) for c in per_row)

    @property
    def bytes(self) -> int:
        """What the mbarrier is told of: the whole box, whatever lies in the matrix."""
        return self.map.box_bytes

    @property
    def zero_bytes(self) -> int:
        """Bytes that lie outside of the matrix."""
        inside = sum(chunk.end - chunk.begin for chunk in self.chunks)
        return self.bytes - inside * self.map.element

    @property
    def lines(self) -> int:
        """Lines of 128 bytes that the box reaches into."""
        return 1 + max(chunk.line for chunk in self.chunks)

    @property
    def misplaced(self) -> int:
        """Chunks that a kernel which XORs with the row would read from a wrong place."""
        at = [np.array([getattr(c, n) for c in self.chunks]) for n in ("row", "chunk", "offset")]
        return int(np.count_nonzero(self.place_by_row(at[0], at[1] * CHUNK) != at[2]))

    def matrix(self, row: int, chunk: int) -> tuple[list[Chunk], Request]:
        """The 8 rows that hold `row` of a column of chunks, and what one ldmatrix of them costs."""
        first = row - row % SIDE
        held = [self.chunk(r, chunk) for r in range(first, min(first + SIDE, self.map.box_rows))]
        addresses = np.zeros(WARP, np.int64)
        addresses[: len(held)] = [self.address + one.offset for one in held]
        return held, wavefronts(addresses, CHUNK, np.arange(WARP) < len(held), store=True)
