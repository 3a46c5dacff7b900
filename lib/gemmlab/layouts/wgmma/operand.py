"""What wgmma reads for one operand: its descriptor against what the copy engine has written.

An operand tile is `rows` x 64 of 16-bit elements: rows of A, or columns of B. It lies in shared
memory in boxes of `span` bytes, as TMA writes them: K-major, a line of a box is a row with span / 2
values of k; MN-major, a line is one k with span / 2 rows. A box is swizzled over 8 * span bytes. A
piece is 16 bytes: 8 elements that are neighbours in every layout.

PTX ISA, "Matrix Descriptor Format", "Canonical Layouts".
`widgets/model/wgmma/operand.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.arguments import choice, flag, integer

DEPTH = 64  # values of k of a tile
K_STEP = 16  # of one wgmma
PIECE = 16  # bytes
MODES = {16: 0, 128: 1, 64: 2, 32: 3}  # bits 62 and 63, by the bytes of a line
SPANS = (16, 32, 64, 128)
ROWS = (64, 128)
MOST_BYTES = 16 * 0x3FFF


def swizzled(address: int, span: int) -> int:
    """Where the byte lies that would be at `address` without a swizzle; patterns start at 0."""
    return address ^ (address >> 7 & (span // 16 - 1)) << 4


@dataclass(frozen=True)
class Descriptor:
    """The 64 bits that wgmma is given for an operand; start, leading and stride in bytes.

    span: bytes of a line of the swizzle pattern; 16 is no swizzle. Raises ArgumentError.
    """

    start: int
    leading: int
    stride: int
    span: int

    def __post_init__(self) -> None:
        choice("span", self.span, SPANS)
        for name in ("start", "leading", "stride"):
            integer(name, getattr(self, name), 0, MOST_BYTES, allowed="allowed are multiples of 16")
            choice(f"{name} % 16", getattr(self, name) % PIECE, (0,))

    @property
    def bits(self) -> int:
        """The number itself."""
        fields = (self.start >> 4) | (self.leading >> 4) << 16 | (self.stride >> 4) << 32
        return fields | MODES[self.span] << 62

    def reads(self, row: int, k: int, mn_major: bool) -> int:
        """The byte offset at which wgmma looks for element (row, k) of its 16 k."""
        if not mn_major:
            along = k // 8 * (self.leading if self.span == 16 else PIECE)
            at = row // 8 * self.stride + row % 8 * self.span + along + k % 8 * 2
            return swizzled(self.start + at, self.span)
        width = self.span // 2
        across, along = self.leading, self.stride
        if self.span == 16:
            across, along = along, across
        at = row // width * across + row % width * 2 + k // 8 * along + k % 8 * self.span
        return swizzled(self.start + at, self.span)


@dataclass(frozen=True)
class Piece:
    """One of the pieces of a product's operand.

    row, k: its first element, k counted in the tile. wanted: the byte offset where it lies. read:
    the one where wgmma looks for it. found: (row, k) of the piece that lies there, or None if that
    is outside of the tile.
    """

    row: int
    k: int
    wanted: int
    read: int
    found: tuple[int, int] | None

    @property
    def right(self) -> bool:
        """Whether wgmma gets the piece that is meant."""
        return self.wanted == self.read


@dataclass(frozen=True)
class Operand:
    """A tile as it lies in shared memory. Raises ArgumentError, naming the argument."""

    mn_major: bool = False
    span: int = 128
    rows: int = 64

    def __post_init__(self) -> None:
        flag("mn_major", self.mn_major)
        choice("span", self.span, SPANS)
        choice("rows", self.rows, ROWS)

    @property
    def bytes(self) -> int:
        """Of the tile."""
        return self.rows * DEPTH * 2

    @property
    def box(self) -> int:
        """Bytes of a box."""
        return self.span * (DEPTH if self.mn_major else self.rows)

    def place(self, row: int, k: int) -> int:
        """The byte offset of element (row, k) from the tile's start."""
        line, along = (k, row) if self.mn_major else (row, k)
        box, inner = divmod(2 * along, self.span)
        return swizzled(box * self.box + line * self.span + inner, self.span)

    def piece_at(self, offset: int) -> tuple[int, int] | None:
        """(row, k) of the first element of the piece at a byte offset; None outside."""
        if not 0 <= offset < self.bytes:
            return None
        box, at = divmod(swizzled(offset, self.span) // PIECE * PIECE, self.box)
        line, inner = divmod(at, self.span)
        along = (box * self.span + inner) // 2
        return (along, line) if self.mn_major else (line, along)

    def descriptor(self, step: int = 0) -> Descriptor:
        """The right descriptor for k from 16 * step on. Raises ArgumentError."""
        integer("step", step, 0, DEPTH // K_STEP - 1)
        pattern = 8 * self.span
        if self.mn_major:
            start = step * 2 * pattern
            near, far = pattern, self.box  # the next 8 k, the next box of rows
            leading, stride = (near, far) if self.span == 16 else (far, near)
        else:
            box, inner = divmod(step * K_STEP * 2, self.span)
            start = box * self.box + inner
            leading, stride = (self.box if self.span == 16 else PIECE), pattern
        return Descriptor(start, leading, stride, self.span)

    def pieces(self, given: Descriptor, step: int = 0) -> tuple[Piece, ...]:
        """What a product of 16 k from 16 * step on gets, piece by piece."""
        found = []
        heads = (
            [(row, k) for row in range(0, self.rows, 8) for k in range(K_STEP)]
            if self.mn_major
            else [(row, k) for row in range(self.rows) for k in (0, 8)]
        )
        for row, k in heads:
            read = given.reads(row, k, self.mn_major)
            whole = step * K_STEP + k
            found.append(Piece(row, whole, self.place(row, whole), read, self.piece_at(read)))
        return tuple(found)

    def core(self, index: int) -> tuple[int, ...]:
        """The numbers of the eight pieces of the core matrix that a piece belongs to."""
        if self.mn_major:
            return tuple(index // 8 * 8 + i for i in range(8))
        return tuple(index // 16 * 16 + index % 2 + 2 * i for i in range(8))


def wavefronts(pieces: Sequence[Piece]) -> int:
    """What eight pieces cost that are read at once: the most in one column of four banks."""
    columns = [piece.read // PIECE % 8 for piece in pieces]
    return max(map(columns.count, columns))
