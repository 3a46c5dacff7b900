"""The judge of exercises that say where the elements of a TMA box come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..layouts.tma.tensor_map import TensorMap
from .answers import whole
from .verdict import Verdict

Answer = Callable[[TensorMap, int, int, int, int], int | None]

# Maps and the boxes {x, y} of each that are tried, from the plainest to both edges at once.
_TRIED: tuple[tuple[TensorMap, tuple[tuple[int, int], ...]], ...] = (
    (TensorMap(64, 128, 16, 64), ((64, 32), (0, 0), (64, 48))),
    (TensorMap(40, 100, 16, 32, dtype="fp32"), ((64, 16),)),
    (TensorMap(40, 100, 16, 64), ((64, 0), (0, 32), (64, 32), (8, 37))),
    (TensorMap(40, 100, 16, 64, row_stride=256), ((-8, 0), (0, -3), (-16, -15), (100, 0), (0, 40))),
)


@dataclass(frozen=True)
class Element:
    """Row `row`, column `column` of the box {x, y}."""

    map: TensorMap
    x: int
    y: int
    row: int
    column: int

    @property
    def source(self) -> int | None:
        """Bytes from the start of the matrix; None: it lies outside and is loaded as zero."""
        row, column = self.y + self.row, self.x + self.column
        if not (0 <= row < self.map.rows and 0 <= column < self.map.columns):
            return None
        return row * self.map.stride_bytes + column * self.map.element


def box_source(answer: Answer) -> Verdict:
    """Judge `source(m, x, y, row, column)`: where an element of the box {x, y} comes from.

    answer: that function. m: a TensorMap. It gives bytes from the start of the matrix, or None for
    what the copy engine loads as zero. Boxes inside, over each edge and outside of four matrices
    are tried.
    """
    count = 0
    for one in _elements():
        at = (one.x, one.y, one.row, one.column)
        try:
            given = answer(one.map, *at)
        except (ArithmeticError, TypeError, ValueError, AttributeError) as error:
            return Verdict(False, f"source(m, {', '.join(map(str, at))}): {error}.")
        if not _same(given, one.source):
            return Verdict(False, _wrong(one, given))
        count += 1
    return Verdict(True, f"right for {count:,} elements of boxes in and around four matrices.")


def _same(given: object, source: int | None) -> bool:
    """Whether an answer is that number, or None."""
    if source is None or given is None:
        return given is source
    try:
        return whole(given) == source
    except (ArithmeticError, TypeError, ValueError):
        return False


def _elements() -> Iterator[Element]:
    for m, boxes in _TRIED:
        for x, y in boxes:
            for row in range(m.box_rows):
                yield from (Element(m, x, y, row, column) for column in range(m.box_columns))


def _wrong(one: Element, given: object) -> str:
    """Where it fails, and what may be the reason."""
    m = one.map
    where = (
        f"a matrix of {m.rows} x {m.columns} {m.dtype}, rows {m.stride_bytes} bytes apart, box "
        f"{{{one.x}, {one.y}}}: row {one.row}, column {one.column} of the box"
    )
    return f"{where} is {_place(one)}; got {given!r}. {_hint(one, given)}".rstrip()


def _place(one: Element) -> str:
    row, column = one.y + one.row, one.x + one.column
    if one.source is None:
        return f"row {row}, column {column} of the matrix, which lies outside: None"
    return f"row {row}, column {column} of the matrix, byte {one.source}"


def _hint(one: Element, given: object) -> str:
    m, row, column = one.map, one.y + one.row, one.x + one.column
    if one.source is None:
        if 0 <= row < m.rows and 0 <= column * m.element < m.stride_bytes:
            return "There is memory, the gap behind the row, but no element of the matrix."
        return "The copy engine reads nothing outside of the matrix."
    swapped = Element(m, one.y, one.x, one.row, one.column)
    readings = {
        "x counts columns and y rows": _unguarded(swapped),
        "An offset in bytes, not in elements": _unguarded(one) // m.element,
        "Rows are as far apart as the map says, not as long as they are": (
            (row * m.columns + column) * m.element
        ),
        "A column is as many bytes as an element has": row * m.stride_bytes + column,
        "Bytes and elements are mixed": row * (m.stride_bytes // m.element) + column * m.element,
    }
    return next((f"{said}." for said, value in readings.items() if given == value), "")


def _unguarded(one: Element) -> int:
    return (one.y + one.row) * one.map.stride_bytes + (one.x + one.column) * one.map.element
