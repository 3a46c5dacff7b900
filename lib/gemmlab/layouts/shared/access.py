"""A warp's access to a tile, written as text: which element each lane wants, and where it stands.

`widgets/model/shared/banks.js` computes the same; tests hold the two equal, messages included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...core.arguments import choice, integer
from ...core.errors import ArgumentError
from . import formula
from .banks import WARP, Request, wavefronts
from .swizzle import Swizzle

# n: elements in one access; L: elements in a row of the tile.
PRESETS: dict[str, str] = {
    "row": "row = lane*n / L; col = lane*n % L",
    "column": "row = lane; col = 0",
    "broadcast": "row = 0; col = 0",
    "stride 2": "row = lane*n*2 / L; col = lane*n*2 % L",
    "diagonal": "row = lane; col = lane*n % L",
    "transposed A store": "row = lane%4*4; col = lane/4",
    "float4 fragment of A": "row = 5; col = lane/4*8",
    "float4 fragment of B": "row = 5; col = lane%4*8",
    "float4 row by row": "row = lane/4; col = lane%4*4",
}
# Instructions that are no plain load or store, and how many lanes give an address. They are served
# as a store is, 8 lanes of 16 bytes a phase.
OPS: dict[str, int] = {
    **{f"{name}.x{n}": 8 * n for name in ("ldmatrix", "stmatrix") for n in (1, 2, 4)},
    "cp.async": WARP,
}
MAX_ROWS, MAX_ROW_LENGTH, MAX_PAD = 128, 1024, 64
_IDENTITY = Swizzle(0, 0, 0)


@dataclass(frozen=True)
class Tile:
    """A tile in shared memory, without what a Layout puts between its rows.

    rows: how many. row_length: elements in a row. element: bytes of an element, 1, 2, 4 or 8.
    Raises ArgumentError, naming the argument.
    """

    rows: int
    row_length: int
    element: int = 4

    def __post_init__(self) -> None:
        integer("rows", self.rows, 1, MAX_ROWS)
        integer("row_length", self.row_length, 1, MAX_ROW_LENGTH)
        choice("element", self.element, (1, 2, 4, 8), unit="bytes")


@dataclass(frozen=True)
class Access:
    """One load or store of a warp: `width` bytes a lane, from the element that `pattern` names.

    pattern: a name of PRESETS, or assignments to `row` and `col` in terms of `lane` (0 to 31), `n`
    (elements in one access) and `L` (elements in a row), such as "row = lane/4; col = lane%4*4".
    op: an instruction of OPS; `store` then says whether it is the form that stores. For cp.async
    it is the side of shared memory; its wavefronts also depend on its sources (`copies.py`).
    Raises ArgumentError for a width that is not 2, 4, 8 or 16 (of matrices: 16; of a copy: 4, 8 or
    16) and for a text that is not a formula.
    """

    pattern: str
    width: int = 4
    store: bool = False
    name: str = ""
    op: str = ""

    def __post_init__(self) -> None:
        choice("width", self.width, (2, 4, 8, 16), unit="bytes")
        if self.op:
            choice("op", self.op, OPS, lead=", allowed are '' and ")
        if self.op and self.width not in ((4, 8, 16) if self.op == "cp.async" else (16,)):
            raise ArgumentError(f"width: got {self.width} bytes, which {self.op} does not have")
        if not isinstance(self.pattern, str) or not ("=" in self.text or self.pattern in PRESETS):
            known = ", ".join(repr(name) for name in PRESETS)
            raise ArgumentError(
                f"pattern: got {self.pattern!r}, expected 'row = ...; col = ...' or one of {known}"
            )
        self._compiled()

    @property
    def text(self) -> str:
        """The assignments, with a preset's name replaced by its formula."""
        return PRESETS.get(self.pattern, self.pattern) if isinstance(self.pattern, str) else ""

    def _compiled(self) -> Callable[[Mapping[str, int]], dict[str, int]]:
        return formula.program(self.text, ("lane", "n", "L"), ("row", "col"))

    def elements(self, row_length: int, element: int) -> list[tuple[int, int]]:
        """(row, column) of the first element of each lane that gives an address."""
        run, n = self._compiled(), max(1, self.width // element)
        lanes = range(OPS.get(self.op, WARP))
        found = [run({"lane": lane, "n": n, "L": row_length}) for lane in lanes]
        return [(at["row"], at["col"]) for at in found]


@dataclass(frozen=True)
class Layout:
    """Where element (row, col) of a tile is stored: as is, padded, swizzled, or by a formula.

    kind: "none", "pad", "swizzle" or "formula"; only the field of that kind counts. pad: unused
    elements after each row. swizzle: on flat element offsets. formula: the column, in terms of
    `row`, `col` and `L`; it must send each row onto itself.
    Raises ArgumentError, naming the argument, and for a text that is not a formula.
    """

    kind: str = "none"
    pad: int = 0
    swizzle: Swizzle = _IDENTITY
    formula: str = "col"

    def __post_init__(self) -> None:
        choice("layout", self.kind, ("none", "pad", "swizzle", "formula"), quoted=True)
        integer("pad", self.pad, 0, MAX_PAD)
        formula.expression(self.formula, ("row", "col", "L"))

    @classmethod
    def parse(cls, text: str | Swizzle | Layout) -> Layout:
        """From "none", "pad 1", "Swizzle<2,3,6>", a Swizzle, or a formula like "col ^ row"."""
        if isinstance(text, Layout):
            return text
        if isinstance(text, Swizzle):
            return cls("swizzle", swizzle=text)
        if not isinstance(text, str):
            raise ArgumentError(f"layout: got {type(text).__name__}, expected text or a Swizzle")
        if text == "none":
            return cls()
        if match := re.fullmatch(r"pad (\d+)", text):
            return cls("pad", pad=int(match[1]))
        if match := re.fullmatch(r"Swizzle<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>", text):
            return cls("swizzle", swizzle=Swizzle(*map(int, match.groups())))
        try:
            return cls("formula", formula=text)
        except ArgumentError as error:
            raise ArgumentError(
                f"layout: got {text!r}, expected 'none', 'pad 1', 'Swizzle<2,3,6>' or a column "
                f"such as 'col ^ (row/4*8)' ({error})"
            ) from None

    def table(self, tile: Tile) -> np.ndarray:
        """Element offset of every element of the tile, shape (rows, row_length).

        Raises ArgumentError if a swizzle leaves the tile, or if a formula leaves its row or sends
        two elements to one place.
        """
        flat = np.arange(tile.rows * tile.row_length).reshape(tile.rows, tile.row_length)
        if self.kind == "pad":
            return flat + np.arange(tile.rows)[:, None] * self.pad
        if self.kind == "swizzle":
            places = np.asarray(self.swizzle(flat))
            if places.max() >= flat.size:
                raise ArgumentError(f"layout: {self.swizzle} sends an element out of the tile")
            return places
        return flat[:, :1] + self._columns(tile) if self.kind == "formula" else flat

    def _columns(self, tile: Tile) -> np.ndarray:
        compute = formula.expression(self.formula, ("row", "col", "L"))
        length = tile.row_length
        columns = np.empty((tile.rows, length), np.int64)
        for row in range(tile.rows):
            for col in range(length):
                to = compute({"row": row, "col": col, "L": length})
                if not 0 <= to < length:
                    raise ArgumentError(
                        f"formula: column {col} of row {row} goes to column {to}, outside the row"
                    )
                columns[row, col] = to
            if len(set(columns[row].tolist())) < length:
                raise ArgumentError(f"formula: two elements of row {row} go to the same place")
        return columns


def check_inside(access: Access, tile: Tile) -> None:
    """Raises ArgumentError if a lane's access leaves the tile."""
    n = max(1, access.width // tile.element)
    for lane, (row, col) in enumerate(access.elements(tile.row_length, tile.element)):
        if not (0 <= row < tile.rows and 0 <= col <= tile.row_length - n):
            raise ArgumentError(
                f"pattern: lane {lane} wants row {row}, column {col}, outside the tile of "
                f"{tile.rows} x {tile.row_length}"
            )


def locate(access: Access, tile: Tile, layout: Layout) -> np.ndarray:
    """Byte address of each lane's access, 32 integers; 0 for lanes that give none.

    access: the elements that the lanes access. tile: its size. layout: where its elements are.
    Raises ArgumentError if a lane leaves the tile, if the layout separates elements of one access,
    or if an address is no multiple of the width (the GPU would fault).
    """
    table = layout.table(tile)
    check_inside(access, tile)
    n = max(1, access.width // tile.element)
    addresses = np.zeros(WARP, np.int64)
    for lane, (row, col) in enumerate(access.elements(tile.row_length, tile.element)):
        places = table[row, col : col + n]
        if np.any(places != places[0] + np.arange(n)):
            raise ArgumentError(
                f"layout: it parts the {n} elements of lane {lane}; one access of {access.width} "
                "bytes needs neighbours"
            )
        address = int(places[0]) * tile.element
        if address % access.width:
            raise ArgumentError(
                f"layout: lane {lane} is at byte {address}, no multiple of {access.width}; the GPU "
                "would report a misaligned address"
            )
        addresses[lane] = address
    return addresses


def request(access: Access, tile: Tile, layout: Layout) -> Request:
    """The wavefronts of an access to a tile in a layout; raises ArgumentError as `locate` does."""
    active = np.arange(WARP) < OPS.get(access.op, WARP)
    as_store = access.store or bool(access.op)
    return wavefronts(locate(access, tile, layout), access.width, active, store=as_store)
