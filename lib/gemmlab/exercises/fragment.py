"""The judge of exercises that say which element a register of a fragment holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..layouts.fragments import WARP, Fragment, fragment
from .answers import pair
from .verdict import Verdict

Answer = Callable[..., tuple[int, int]]


def fragment_layout(answer: Answer, name: str = "mma.m16n8k16 A") -> Verdict:
    """Judge `answer(lane, register, half)`, which gives (row, column) of the element held there.

    half: 0 for the low 16 bits of the register, 1 for the high ones. Of a fragment of 32-bit
    elements it is `answer(lane, register)`. name: one of `layouts.FRAGMENTS`. Every place of the
    warp is asked for; the hint names the first wrong one, and who holds the element given.
    Raises ArgumentError for an unknown fragment.
    """
    layout = fragment(name)
    places = list(_places(layout))
    wrong = []
    for place in places:
        try:
            row, column = pair(answer(*place))
        except ArithmeticError as error:
            return Verdict(False, f"{_named(*place)}: {error}.")
        except (TypeError, ValueError):
            takes = "lane, register" if layout.bits == 32 else "lane, register, half"
            return Verdict(
                False,
                f"the function must take {takes} and return (row, column), integers (// for /?).",
            )
        if (row, column) != layout.element(*place):
            wrong.append((place, row, column))
    if not wrong:
        return Verdict(True, f"all {len(places)} elements of {name} are where you say.")
    right = len(places) - len(wrong)
    return Verdict(False, f"{right} of {len(places)} are right. {_hint(layout, *wrong[0])}")


def _places(layout: Fragment) -> Iterator[tuple[int, ...]]:
    """(lane, register, half), or (lane, register) where an element is a whole register."""
    for lane in range(WARP):
        for register in range(layout.registers):
            yield from (
                [(lane, register)]
                if layout.bits == 32
                else [(lane, register, half) for half in (0, 1)]
            )


def _named(lane: int, register: int, half: int | None = None) -> str:
    part = "" if half is None else f", {('low', 'high')[half]} half"
    return f"lane {lane}, register {register}{part}"


def _hint(layout: Fragment, place: tuple[int, ...], row: int, column: int) -> str:
    said = f"For {_named(*place)} you say row {row}, column {column}"
    if not (0 <= row < layout.rows and 0 <= column < layout.columns):
        return f"{said}, and there are {layout.rows} rows and {layout.columns} columns."
    held = layout.holder(row, column)
    return f"{said}; that element is in {_named(held.lane, held.register, held.half)}."
