"""What a tensor map says, and where the copy engine (TMA) puts a box of a row-major matrix.

cuTensorMapEncodeTiled (cuda.h) writes a tensor map: of a matrix, and of the size of a box. One
instruction loads the box whose first element is column x of row y, x a multiple of 16 bytes; what
lies outside of the matrix is read as zero, and the mbarrier is told of all bytes of the box. In
shared memory its rows stand a pitch apart: their own bytes or, with a swizzle, its span, of which
shorter rows leave the rest alone.

A swizzle XORs bits of the address: 4 to 6 with 7 to 9 for 128B (CuTe: Swizzle<3,4,3> on bytes), 4
and 5 with 7 and 8 for 64B, 4 with 7 for 32B. It is the address in shared memory and not the row of
the box: they agree only where the box begins at a multiple of eight spans.

`widgets/model/tma/tensor_map.js` computes the same, refusals included; tests hold the two equal,
and this file equal to what the simulator's copy engine does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from ...core.arguments import choice, index, integer
from ...core.errors import ArgumentError
from ..shared.banks import WARP, Request, wavefronts

# Name: bytes of an element, and its name in CU_TENSOR_MAP_DATA_TYPE_*.
DTYPES: dict[str, tuple[int, str]] = {
    "bf16": (2, "BFLOAT16"),
    "fp16": (2, "FLOAT16"),
    "fp32": (4, "FLOAT32"),
    "uint8": (1, "UINT8"),
}
CHUNK = 16  # bytes that a swizzle keeps together
LINE = 128  # bytes of all 32 banks
SPANS: dict[str, int] = {"none": CHUNK, "32B": 32, "64B": 64, "128B": 128}
_MAX_SHARED = 232_448  # bytes of shared memory that a block can ask for on Hopper


@dataclass(frozen=True)
class Arguments:
    """Arguments of cuTensorMapEncodeTiled for a row-major matrix; a TensorMap has valid ones only.

    rows, columns: of the matrix. box_rows, box_columns: of a box; all in elements. dtype: one of
    DTYPES. swizzle: one of SPANS. row_stride: elements from a row to the next (None: the least
    that is allowed). address: of element (0, 0) in bytes (None: one that fits).
    Raises ArgumentError for a value that is not an integer or is negative, and for an unknown name.
    """

    rows: int
    columns: int
    box_rows: int
    box_columns: int
    dtype: str = "bf16"
    swizzle: str = "128B"
    row_stride: int | None = None
    address: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("dtype", DTYPES), ("swizzle", SPANS)):
            choice(name, getattr(self, name), known)
        for field in fields(Arguments):
            value = getattr(self, field.name)
            if field.name in ("dtype", "swizzle") or (value is None and field.default is None):
                continue
            expected = "expected an integer from 0 on"
            integer(field.name, value, 0, allowed=expected, kind=Integral)

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype][0]

    @property
    def span(self) -> int:
        """Bytes within which the swizzle moves chunks; one chunk: it does not."""
        return SPANS[self.swizzle]

    @property
    def stride_bytes(self) -> int:
        """From a row of the matrix to the next."""
        if self.row_stride is not None:
            return self.row_stride * self.element
        return up(self.columns * self.element)

    @property
    def row_bytes(self) -> int:
        """Of a row of the box."""
        return self.box_columns * self.element

    @property
    def box_bytes(self) -> int:
        """Of the whole box: what the mbarrier must expect of a load, wherever the box lies."""
        return self.box_rows * self.row_bytes

    @property
    def pitch(self) -> int:
        """Bytes from a row of the box to the next in shared memory."""
        return max(self.row_bytes, self.span)

    @property
    def alignment(self) -> int:
        """The tile must begin at a multiple of this many bytes, so that its rows give the XOR.

        The copy engine itself asks for 128 only.
        """
        return max(LINE, 8 * self.span if self.span > CHUNK else 0)

    def problems(self) -> tuple[tuple[str, str], ...]:
        """(argument, what was given, the rule and the remedy) of all that would be refused."""
        every = {
            "address": self._address(),
            "rows": _size(self.rows),
            "columns": _size(self.columns),
            "row_stride": self._row_stride(),
            "box_rows": _box_size(self.box_rows) or self._box_bytes(),
            "box_columns": _box_size(self.box_columns) or self._row_bytes(),
        }
        return tuple((name, said) for name, said in every.items() if said)

    def _address(self) -> str:
        if self.address is None or (self.address and self.address % CHUNK == 0):
            return ""
        return (
            f"got {self.address:#x}, which is {self.address % CHUNK} past a multiple of 16 bytes, "
            "or null; copy the matrix to an aligned address"
        )

    def _row_stride(self) -> str:
        given, b = self.row_stride, self.stride_bytes
        if given == 0:
            return "got 0, and rows would lie on each other; give the elements from row to row"
        got = f"got {b // self.element} {self.dtype}: {b} bytes"
        if b % CHUNK:
            longer = up(b) // self.element
            return f"{got}, no multiple of 16; copy the matrix into rows of {longer} elements"
        return f"{got}, which must be below 2^40; split the matrix" if b >= 1 << 40 else ""

    def _row_bytes(self) -> str:
        b, size = self.row_bytes, self.element
        got = f"got {self.box_columns} {self.dtype}: {b} bytes a row"
        if b % CHUNK:
            return f"{got}, no multiple of 16; take {up(b) // size}"
        if CHUNK < self.span < b:
            return (
                f"{got}, more than the {self.span} that the {self.swizzle} swizzle spans; take "
                f"{self.span // size}, and load the tile as {-(-b // self.span)} boxes side by side"
            )
        return ""

    def _box_bytes(self) -> str:
        if self.box_bytes <= _MAX_SHARED or self.box_columns > 256:
            return ""
        return (
            f"got {self.box_rows} rows of {self.row_bytes} bytes: {self.box_bytes} bytes, more "
            f"than the {_MAX_SHARED} of shared memory that a block can have; use smaller boxes"
        )


@dataclass(frozen=True)
class TensorMap(Arguments):
    """A tensor map that cuTensorMapEncodeTiled makes: `Arguments` that keep all of its rules.

    Raises ArgumentError naming the argument, its value, the rule (CUDA Driver API) and the remedy.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, said in self.problems():
            raise ArgumentError(f"{name}: {said}")

    def box(self, x: int = 0, y: int = 0, address: int = 0) -> Box:
        """The box that begins at column x of row y, put to an address of shared memory."""
        return Box(self, x, y, address)


def up(count: int) -> int:
    """Bytes, up to whole chunks of 16."""
    return -(-count // CHUNK) * CHUNK


def _size(count: int) -> str:
    if 1 <= count <= 1 << 32:
        return ""
    return f"got {count}, allowed are 1 to 2^32; leave out what is empty, split what is larger"


def _box_size(count: int) -> str:
    if 1 <= count <= 256:
        return ""
    return f"got {count}, allowed are 1 to 256; load a larger tile as several boxes"


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
    """Where the bytes of a box are stored.

    map: of the matrix. x, y: column and row of the first element there; a GPU takes x in whole
    chunks. address: where the tile begins in shared memory, in bytes. Raises ArgumentError unless
    that is a multiple of 128.
    """

    map: TensorMap
    x: int
    y: int
    address: int = 0

    def __post_init__(self) -> None:
        for name in ("x", "y", "address"):
            index(name, getattr(self, name))
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
        return Chunk(row, chunk, y, x, begin, end, int(self.place(row, chunk * CHUNK)))

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
