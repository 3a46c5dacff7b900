"""The PNG of FragmentMap: 8 columns of elements side by side, as on a narrow page."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts.fragments import SIDE, Fragment
from ..shared.bank_picture import LINE, MUTED, TEXT
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HUES = ("0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "f0e442", "8c8c8c")
_WIDTH, _ROW = 3.8, 0.165


def tint(f: Fragment, colour: str, row: int, column: int) -> tuple[float, float, float]:
    """The colour of an element on white, as in fragment_map.js."""
    at = f.holder(row, column)
    hue, part = HUES[at.lane // 4], (12 + 14 * (at.lane % 4)) / 100
    if colour != "lane":
        hue = HUES[at.register if colour == "register" else f.matrix(row, column)]
        part = 0.4
    r, g, b = (1 + (int(hue[i : i + 2], 16) / 255 - 1) * part for i in (0, 2, 4))
    return r, g, b


def fragment_figure(f: Fragment, colour: str, lane: int | None, reading: str) -> Figure:
    """The figure, 3.8 inches wide: the reading, then the elements; those of `lane` are framed."""
    lines = wrap(reading, 60)
    parts = f.columns // SIDE
    tall = _ROW * (f.rows + 1.2)
    top = 0.08 + LINE * len(lines) + 0.06
    height = top + parts * tall + 0.03
    figure = new_figure(_WIDTH, height)
    style: dict[str, Any] = {"va": "top", "color": TEXT, "parse_math": False, "fontsize": 8}
    for n, line in enumerate(lines):
        figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, **style)
    for n in range(parts):
        bottom = 1 - (top + (n + 1) * tall) / height
        axes = figure.add_axes((0.01, bottom, 0.98, tall / height))
        _draw(axes, f, colour, lane, n * SIDE)
    return figure


def _draw(axes: Axes, f: Fragment, colour: str, lane: int | None, left: int) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(-0.85, SIDE + 0.02)
    axes.set_ylim(f.rows + 0.1, -1.1)
    axes.axis("off")
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": TEXT, "fontsize": 6.5}
    for column in range(SIDE):
        axes.text(column + 0.5, -0.5, str(left + column), **{**middle, "color": MUTED})
    for row in range(f.rows):
        giver = f.address_lane(row)
        head = str(row) if giver is None else f"{row % SIDE} T{giver}"
        axes.text(-0.08, row + 0.5, head, **{**middle, "color": MUTED, "ha": "right"})
        for column in range(SIDE):
            at = f.holder(row, left + column)
            mine = at.lane == lane
            face = tint(f, colour, row, left + column)
            edge = {"edgecolor": TEXT, "lw": 1.2} if mine else {"lw": 0}
            axes.add_patch(Rectangle((column + 0.03, row + 0.04), 0.94, 0.92, fc=face, **edge))
            bold: dict[str, Any] = {"weight": "bold"} if mine else {}
            axes.text(column + 0.5, row + 0.54, at.short(), **middle, **bold)
