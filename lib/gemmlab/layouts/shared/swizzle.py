"""Where a tile's elements stand: row-major, padded, or swizzled by XOR.

Offsets are in elements unless a name says bytes. `Swizzle` has the meaning that CUTLASS gives it
in `cute/swizzle.hpp`. `widgets/model/shared/swizzle.js` computes what `BitXor` does; tests hold the
two equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from ...core.arguments import choice, index, integer
from ...core.errors import ArgumentError

_MAX_BITS = 30  # offsets stay below 2**30, so that the browser's 32-bit integers agree


@dataclass(frozen=True)
class Swizzle:
    """CuTe's Swizzle<B, M, S>: XOR B bits of an offset with the B bits that are S places higher.

    B: how many bits. M: the lowest bit that changes; runs of 2**M offsets stay together.
    S: distance from the bits that change up to the bits that are read (down, if negative).
    The unit is that of the offsets passed in: elements or bytes (see `on_bytes`).
    Raises ArgumentError unless B >= 0, M >= 0, |S| >= B and B + M + |S| <= 30.
    """

    B: int
    M: int
    S: int

    def __post_init__(self) -> None:
        for name in ("B", "M", "S"):
            integer(name, getattr(self, name))
        if self.B < 0 or self.M < 0:
            raise ArgumentError(f"B, M: got {self.B}, {self.M}, allowed are 0 and more")
        if abs(self.S) < self.B:
            raise ArgumentError(
                f"S: got {self.S} with B = {self.B}; |S| must be at least B, else the bits that "
                "are read would change themselves"
            )
        if self.B + self.M + abs(self.S) > _MAX_BITS:
            raise ArgumentError(f"B + M + |S|: got more than {_MAX_BITS} bits")

    def __str__(self) -> str:
        return f"Swizzle<{self.B},{self.M},{self.S}>"

    def __call__(self, offset: ArrayLike) -> np.ndarray | int:
        """The offset at which the element of row-major offset `offset` stands.

        offset: a non-negative integer or an array of them; the result has its shape.
        """
        array = np.asarray(offset)
        if array.dtype.kind not in "iu" or (array.size and array.min() < 0):
            raise ArgumentError("offset: expected integers that are not negative")
        mask = ((1 << self.B) - 1) << (self.M + max(self.S, 0))
        read = array & mask
        moved = array ^ (read >> self.S if self.S >= 0 else read << -self.S)
        return moved if np.ndim(offset) else int(moved)

    @property
    def period(self) -> int:
        """Number of offsets after which the pattern repeats."""
        return 1 << (self.B + self.M + abs(self.S))

    @property
    def is_bijective(self) -> bool:
        """Whether one period of offsets maps onto itself without a gap (checked, not assumed)."""
        return len(np.unique(self(np.arange(self.period)))) == self.period

    def on_bytes(self, element: int) -> Swizzle:
        """The same permutation for byte offsets, if `self` is for elements of `element` bytes."""
        choice("element", element, (1, 2, 4, 8, 16), unit="bytes")
        return Swizzle(self.B, self.M + element.bit_length() - 1, self.S)


@dataclass(frozen=True)
class BitXor:
    """Bits of an offset XORed onto other bits of it: any pairs, not one run of them as a Swizzle.

    pairs: (source, target), numbers of bits from 0. All sources are read before a target changes.
    Raises ArgumentError for a pair twice, for one of a bit with itself, and beyond bit 29.
    """

    pairs: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for pair in self.pairs:
            if (
                len(pair) != 2
                or any(isinstance(bit, bool) or not isinstance(bit, int) for bit in pair)
                or not all(0 <= bit < _MAX_BITS for bit in pair)
                or pair[0] == pair[1]
                or self.pairs.count(pair) > 1
            ):
                raise ArgumentError(
                    f"pairs: got {pair!r}, expected two different bits (source, target) from 0 to "
                    f"{_MAX_BITS - 1}, each pair once"
                )

    @classmethod
    def of(cls, swizzle: Swizzle, bits: int = _MAX_BITS) -> BitXor:
        """What a Swizzle does to offsets of `bits` bits: the bits above are 0."""
        s = swizzle
        low = s.M + max(s.S, 0)
        pairs = ((low + i, low + i - s.S) for i in range(s.B if s.S else 0))
        return cls(tuple(pair for pair in pairs if max(pair) < bits))

    def __call__(self, offset: ArrayLike) -> np.ndarray | int:
        """The offset, or array of offsets, after the XOR."""
        array = np.asarray(offset)
        moved = array.copy()
        for source, target in self.pairs:
            moved = moved ^ (array >> source & 1) << target
        return moved if np.ndim(offset) else int(moved)

    def collision(self, bits: int) -> tuple[int, int] | None:
        """The first two offsets of `bits` bits that land on one place; None if it is one-to-one."""
        places: dict[int, int] = {}
        for offset, place in enumerate(np.asarray(self(np.arange(1 << bits))).tolist()):
            if place in places:
                return places[place], offset
            places[place] = offset
        return None

    def swizzle(self) -> Swizzle | None:
        """The Swizzle with S > 0 that does the same; None if there is none, or nothing to do."""
        pairs = sorted(self.pairs)
        if not pairs:
            return None
        s, low = pairs[0][0] - pairs[0][1], pairs[0][1]
        if s < len(pairs) or pairs != [(low + i + s, low + i) for i in range(len(pairs))]:
            return None
        return Swizzle(len(pairs), low, s)


def row_major(row: ArrayLike, col: ArrayLike, row_length: int) -> np.ndarray:
    """Offset, in elements, of element (row, col) in rows of `row_length` elements.

    row, col: integers or arrays that broadcast; the offsets have their common shape. Raises
    ArgumentError for others.
    """
    integer("row_length", row_length, 1, kind=Integral)
    offsets: np.ndarray = np.asarray(row) * row_length + np.asarray(col)
    return offsets


def padded(row: ArrayLike, col: ArrayLike, row_length: int, pad: int) -> np.ndarray:
    """Offset, in elements, of element (row, col) if `pad` unused elements follow each row.

    row, col: integers or arrays that broadcast. row_length: elements in a row, without the pad.
    Raises ArgumentError for a pad below 0.
    """
    integer("pad", pad, 0, allowed="expected a number of elements, 0 or more")
    return row_major(row, col, row_length + pad)


def transposed_a_column(k: ArrayLike, m: ArrayLike) -> np.ndarray:
    """Column of row `k` in which the transposed A tile keeps element `m`: m ^ (k / 4 * 8).

    k: 0 to 15, m: 0 to 127, integers or arrays that broadcast. On the flat offset k * 128 + m this
    is Swizzle<2,3,6>; a tile of more than 16 rows reads more bits of k and is Swizzle<3,3,6> (32).
    Source: kernels/sgemm/06_swizzled_a.cuh.
    """
    column: np.ndarray = np.asarray(m) ^ (np.asarray(k) // 4 * 8)
    return column


def find_swizzle(columns: ArrayLike) -> Swizzle | None:
    """The Swizzle on flat element offsets that does what a table of columns says, if there is one.

    columns: integers of shape (rows, row_length); columns[r, c] is the column of row r that holds
    element (r, c). Of several, the one with the fewest bits, then the lowest; None if none does.
    Raises ArgumentError for a table of another shape.
    """
    table = np.asarray(columns)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        raise ArgumentError(f"columns: got shape {table.shape}, expected (rows, row_length)")
    flat = np.arange(table.size).reshape(table.shape)
    target = flat // table.shape[1] * table.shape[1] + table
    bits = max(int(table.size) - 1, 1).bit_length()
    for b in range(bits // 2 + 1):
        for m in range(bits - 2 * b + 1):
            for s in range(b, bits - b - m + 1):
                candidate = Swizzle(b, m, s)
                if np.array_equal(candidate(flat), target):
                    return candidate
    return None


def for_columns(row_length: int, element: int, width: int) -> Swizzle:
    """The Swizzle with which lanes that walk down a column of `width`-byte pieces do not collide.

    row_length: elements, a power of two. element: bytes. width: bytes a lane, at least 4 and at
    least an element. For rows of 128, 64 and 32 bytes and 16-byte pieces it is what TMA calls the
    128B, 64B and 32B swizzle (CuTe Swizzle<3,4,3>, <2,4,3>, <1,4,3> on bytes).
    Raises ArgumentError if row_length is no power of two or a row is shorter than one piece.
    """
    if element not in (1, 2, 4, 8, 16) or width not in (4, 8, 16) or width < element:
        raise ArgumentError(f"element, width: got {element!r}, {width!r} bytes")
    index("row_length", row_length)
    if row_length < 1 or row_length & (row_length - 1) or row_length * element < width:
        raise ArgumentError(
            f"row_length: got {row_length!r}, expected a power of two that holds {width} bytes"
        )
    row_bits = (row_length * element).bit_length() - 1
    low = width.bit_length() - 1
    # Bits of the byte address: 2 to 6 choose the bank, `low` and above choose the piece.
    bits = min(7, row_bits) - low
    shift = max(7, row_bits) - low
    return Swizzle(bits, low - (element.bit_length() - 1), shift)
