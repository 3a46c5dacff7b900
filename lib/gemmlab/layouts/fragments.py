"""Who holds what in tensor-core fragments: of mma.sync, ldmatrix, stmatrix and nvcuda::wmma.

All of them are made of 8x8 matrices, of which a lane has two neighbouring elements: with
g = lane / 4 and q = lane % 4, those of row g in columns 2q and 2q + 1, or, transposed, those of
column g in rows 2q and 2q + 1. Two 16-bit elements are one register, the first in the low half;
fp32 elements are a register each. PTX ISA, "Warp Level Matrix Instructions": "Matrix Fragments for
mma.m16n8k16 with floating point type", "Matrix Fragments for mma.m16n8k8", "ldmatrix", "stmatrix".

CUDA leaves the layout of a wmma fragment open. These are what an H200 has, as measured by
`gemmlab.fragments`: registers of mma.m16n8k16, the same whether the matrix lies in memory by rows
or by columns. m8n32k16 is computed transposed, so that its 32 columns are mma's rows.

`widgets/fragments.js` computes the same; tests hold the two equal, sentences included, and hold
these equal to what the simulator moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.arguments import choice, integer, one_of_many
from ..core.errors import ArgumentError

WARP = 32
SIDE = 8  # rows and columns of a matrix


@dataclass(frozen=True)
class Holder:
    """Where an element is: lane 0 to 31, its register, and the half of that.

    half: 0 for the low 16 bits, 1 for the high ones, None where the element is a whole register.
    x: of wmma, the element is frag.x[x]; else None.
    """

    lane: int
    register: int
    half: int | None
    x: int | None = None

    def short(self) -> str:
        """'T5 r1.h': T for thread, h and l for the high and the low half. 'T5 x3' of wmma."""
        if self.x is not None:
            return f"T{self.lane} x{self.x}"
        part = "" if self.half is None else ".h" if self.half else ".l"
        return f"T{self.lane} r{self.register}{part}"


@dataclass(frozen=True)
class Fragment:
    """A matrix in the registers of a warp; `fragment(name)` knows those of the hardware.

    origins: (row, column) of the upper left element of each 8x8 matrix; they fill a rectangle.
    bits: of an element, 16 or 32. transposed: whether a lane's pair is one of a column.
    source: section of the PTX ISA. The matrices of ldmatrix and stmatrix are below each other,
    so that row 8i + r is row r of matrix i. repeats: how often a lane's elements come one after the
    other in x[] of a wmma fragment of __half, which has 16 of A and of B whatever the shape.
    Raises ArgumentError, naming the argument.
    """

    name: str
    origins: tuple[tuple[int, int], ...]
    source: str
    bits: int = 16
    transposed: bool = False
    repeats: int = 1

    def __post_init__(self) -> None:
        choice("bits", self.bits, (16, 32))
        every = {(r, c) for r in range(0, self.rows, SIDE) for c in range(0, self.columns, SIDE)}
        if not self.origins or len(self.origins) != len(every) or set(self.origins) != every:
            raise ArgumentError(
                f"origins: got {self.origins!r}, expected the corners of 8x8 matrices that fill a "
                "rectangle"
            )

    @property
    def rows(self) -> int:
        """Rows of the whole."""
        return max((row + SIDE for row, _ in self.origins), default=0)

    @property
    def columns(self) -> int:
        """Columns of the whole."""
        return max((column + SIDE for _, column in self.origins), default=0)

    @property
    def registers(self) -> int:
        """32-bit registers of a lane."""
        return len(self.origins) * self.bits // 16

    @property
    def elements(self) -> int:
        """Elements of a lane, each counted once."""
        return 2 * len(self.origins)

    @property
    def addressed(self) -> bool:
        """Whether lanes give the addresses of rows."""
        return "matrix" in self.name

    @property
    def wmma(self) -> bool:
        """Whether it is a wmma fragment, whose elements are x[] in CUDA."""
        return self.name.startswith("wmma")

    def _check(self, name: str, value: object, end: int) -> int:
        allowed = f"{self.name} allows integers from 0 to {end - 1}"
        return integer(name, value, 0, end - 1, allowed=allowed)

    def matrix(self, row: int, column: int) -> int:
        """The 8x8 matrix that the element belongs to. Raises ArgumentError outside."""
        self._check("row", row, self.rows)
        self._check("column", column, self.columns)
        return self.origins.index((row // SIDE * SIDE, column // SIDE * SIDE))

    def holder(self, row: int, column: int) -> Holder:
        """Who holds the element. Raises ArgumentError outside."""
        i = self.matrix(row, column)
        group, inner = row % SIDE, column % SIDE
        if self.transposed:
            group, inner = inner, group
        lane = 4 * group + inner // 2
        x = 2 * i + inner % 2
        index = x if self.wmma else None
        if self.bits == 32:
            return Holder(lane, register=x, half=None, x=index)
        return Holder(lane, register=i, half=inner % 2, x=index)

    def element(self, lane: int, register: int, half: int | None = None) -> tuple[int, int]:
        """(row, column) of what a register holds; the inverse of `holder`.

        half: 0 or 1, and None for 32-bit elements. Raises ArgumentError, naming the argument.
        """
        self._check("lane", lane, WARP)
        self._check("register", register, self.registers)
        if self.bits == 32:
            if half is not None:
                raise ArgumentError(f"half: got {half!r}, {self.name} allows None only")
            i, odd = divmod(register, 2)
        else:
            i, odd = register, self._check("half", half, 2)
        group, inner = lane // 4, 2 * (lane % 4) + odd
        if self.transposed:
            group, inner = inner, group
        return self.origins[i][0] + group, self.origins[i][1] + inner

    def x(self, lane: int, i: int) -> tuple[int, int]:
        """(row, column) of x[i] of a lane's wmma fragment. Raises ArgumentError."""
        self._check("i", i, self.elements * self.repeats)
        register, half = divmod(i % self.elements, 2)
        if self.bits == 32:
            return self.element(lane, 2 * register + half)
        return self.element(lane, register, half)

    def address_lane(self, row: int) -> int | None:
        """The lane that gives the address of a row (8i + r for row r of matrix i), or None."""
        self._check("row", row, self.rows)
        return row if self.addressed else None

    def addressed_row(self, lane: int) -> int | None:
        """The row whose address the lane gives; None if its address is not used."""
        self._check("lane", lane, WARP)
        return lane if self.addressed and lane < self.rows else None

    def describe(self, row: int, column: int) -> str:
        """Where an element is, in words."""
        at = self.holder(row, column)
        half = "" if at.half is None else f", {('low', 'high')[at.half]} half"
        place = f"register {at.register}{half}" if at.x is None else f"x[{at.x}]"
        text = f"{_capital(self._row(row))}, column {column}: lane {at.lane}, {place}."
        if self.addressed:
            text += f" The row's address comes from lane {self.address_lane(row)}."
        return text

    def describe_lane(self, lane: int) -> str:
        """What a lane holds, in words."""
        held = "; ".join(self._held(lane))
        text = f"Lane {lane} holds {held}."
        if self.repeats > 1:
            end = self.repeats * self.elements - 1
            return f"{text} In a fragment of __half, x[{self.elements}] to x[{end}] repeat them."
        if not self.addressed:
            return text
        row = self.addressed_row(lane)
        if row is None:
            return f"{text} Its address is not used."
        return f"{text} It gives the address of {self._row(row)}."

    def _row(self, row: int) -> str:
        if self.addressed:
            return f"row {row % SIDE} of matrix {row // SIDE}"
        return f"row {row} of {[*self.name.split(), self.name][1]}"

    def _held(self, lane: int) -> list[str]:
        """A lane's elements, by pairs of one matrix where they are one register or of wmma."""
        if self.wmma:
            pairs = range(len(self.origins))
            return [f"x[{2 * i}], x[{2 * i + 1}] {self._pair(lane, i)}" for i in pairs]
        if self.bits == 16:
            return [f"r{n} {self._pair(lane, n)}" for n in range(self.registers)]
        places = [self.element(lane, n) for n in range(self.registers)]
        return [f"r{n} row {row}, column {column}" for n, (row, column) in enumerate(places)]

    def _pair(self, lane: int, i: int) -> str:
        """The two elements of matrix i."""
        row, column = self.x(lane, 2 * i)
        of = ""
        if self.addressed:
            row, of = row % SIDE, f" of matrix {i}"
        if self.transposed:
            return f"rows {row} and {row + 1}, column {column}{of}"
        return f"row {row}, columns {column} and {column + 1}{of}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _known() -> dict[str, Fragment]:
    found = []
    for k, kind in ((16, " with floating point type"), (8, "")):
        source = f"Matrix Fragments for mma.m16n8k{k}{kind}"
        name = f"mma.m16n8k{k}"
        deep = tuple(range(0, k, SIDE))
        a = tuple((row, column) for column in deep for row in (0, SIDE))
        b = tuple((row, 0) for row in deep)
        found += [
            Fragment(f"{name} A", a, source),
            Fragment(f"{name} B", b, source, transposed=True),
            Fragment(f"{name} C/D", ((0, 0), (SIDE, 0)), source, bits=32),
        ]
    for name, what in (("ldmatrix", "load"), ("stmatrix", "store")):
        source = f"Warp-level matrix {what} instruction: {name}"
        for count in (1, 2, 4):
            origins = tuple((SIDE * i, 0) for i in range(count))
            found += [
                Fragment(f"{name}.x{count}", origins, source),
                Fragment(f"{name}.x{count}.trans", origins, source, transposed=True),
            ]
    for shape in ((16, 16), (32, 8), (8, 32)):
        found += _wmma(*shape)
    return {one.name: one for one in found}


def _wmma(m: int, n: int) -> list[Fragment]:
    """A, B and C/D of one shape: two m16n8k16, side by side for m16n16k16, else one above the
    other. The operand that is mma's A has four matrices for each of its 16 rows, the other two for
    each of its 8.
    """
    swapped = m == 8
    rows, columns = (n, m) if swapped else (m, n)
    deep = (0, SIDE)  # of k
    a = [(top + r, k) for top in range(0, rows, 16) for k in deep for r in deep]
    b = [(k, left) for left in range(0, columns, SIDE) for k in deep]
    c = [(r, c) for c in range(0, columns, SIDE) for r in range(0, rows, SIDE)]
    if swapped:
        a, b, c = ([(column, row) for row, column in part] for part in (b, a, c))

    def of(what: str, origins: list[tuple[int, int]], transposed: bool, bits: int = 16) -> Fragment:
        repeats = 1 if "C" in what else 8 // len(origins)
        source = "not documented: measured with kernels/probes/wmma_map.cuh"
        name = f"wmma.m{m}n{n}k16 {what}"
        return Fragment(name, tuple(origins), source, bits, transposed, repeats)

    return [
        of("A", a, False),
        of("B", b, True),
        of("C/D fp32", c, swapped, 32),
        of("C/D fp16", c, swapped),
    ]


FRAGMENTS = _known()


def fragment(name: str) -> Fragment:
    """A layout by its name, one of FRAGMENTS: "mma.m16n8k16 A", "ldmatrix.x4.trans", ...

    Raises ArgumentError for another name.
    """
    return FRAGMENTS[one_of_many("name", name, FRAGMENTS, "fragments")]
