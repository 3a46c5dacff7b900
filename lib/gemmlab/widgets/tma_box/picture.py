"""The PNG of TmaBox: the matrix with the box on it, and the box in shared memory."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts.tma.tensor_map import SIDE, Box
from ..shared.bank_picture import LINE, MUTED, TEXT, bank_colour
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _LINES = 3.8, 0.15, 16
_SMALL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}


def tma_figure(box: Box | None, chosen: tuple[int, int], reading: str) -> Figure:
    """The figure, 3.8 inches wide: the reading, the matrix, the lines; without a box the first."""
    lines = wrap(reading, 60)
    top = 0.08 + LINE * len(lines) + 0.06
    shown = min(box.lines, _LINES) if box else 0
    tall = _ROW * (shown + 1.2) if box else 0.0
    flat = 1.5 if box else 0.0
    height = top + flat + tall + (LINE * 2.2 if box else 0.0)
    figure = new_figure(_WIDTH, height)
    style: dict[str, Any] = {"va": "top", "color": TEXT, "parse_math": False, "fontsize": 8}
    for n, line in enumerate(lines):
        figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, **style)
    if box:
        bottom = 1 - (top + flat) / height
        _draw_matrix(figure.add_axes((0.02, bottom, 0.96, (flat - 0.08) / height)), box)
        below = bottom - tall / height
        axes = figure.add_axes((0.01, below, 0.98, tall / height))
        _draw_lines(axes, box, chosen, shown)
        note = (
            f"Below: shared memory, lines 0 to {shown - 1} of {box.lines}; row.chunk of the box.\n"
            "Striped: zeros, at least in part. Strong: the rows of one ldmatrix."
        )
        figure.text(0.02, (LINE * 2 - 0.03) / height, note, va="top", fontsize=7, color=MUTED)
    return figure


def _tint(rgb: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(1 - 0.3 * (1 - c) for c in rgb)


def _draw_matrix(axes: Axes, box: Box) -> None:
    from matplotlib.patches import Rectangle

    m, count = box.map, 16 // box.map.element
    axes.set_xlim(min(box.x, 0) - 3, max(box.x + m.box_columns, m.columns) + 3)
    axes.set_ylim(max(box.y + m.box_rows, m.rows) + 1, min(box.y, 0) - 1)
    axes.axis("off")
    whole = (0, 0), m.columns, m.rows
    axes.add_patch(Rectangle(*whole, fc="#eef1f4", ec=TEXT, lw=1))
    for chunk in range(m.row_bytes // 16):
        face = _tint(bank_colour(4 * (chunk % SIDE))[0])
        at = (box.x + chunk * count, box.y)
        axes.add_patch(Rectangle(at, count, m.box_rows, fc=face, lw=0))
    axes.add_patch(Rectangle((box.x, box.y), m.box_columns, m.box_rows, fc="none", ec=TEXT, lw=1.6))
    axes.add_patch(Rectangle(*whole, fc="none", ec=TEXT, lw=1, ls=(0, (3, 2))))


def _draw_lines(axes: Axes, box: Box, chosen: tuple[int, int], shown: int) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(-0.6, 8.02)
    axes.set_ylim(shown + 0.1, -1.1)
    axes.axis("off")
    for slot in range(8):
        axes.text(slot + 0.5, -0.5, f"{4 * slot}–{4 * slot + 3}", color=MUTED, **_SMALL)
    for line in range(shown):
        axes.text(-0.1, line + 0.5, str(line), color=MUTED, **{**_SMALL, "ha": "right"})
    held = {(one.row, one.chunk) for one in box.matrix(*chosen)[0]}
    whole = 16 // box.map.element
    for one in (one for one in box.chunks if one.line < shown):
        rgb, on = bank_colour(4 * (one.chunk % SIDE))
        mine = (one.row, one.chunk) in held
        face = rgb if mine else _tint(rgb)
        outside = one.end - one.begin < whole
        style: dict[str, Any] = {"hatch": "////", "ec": "#a3acb5"} if outside else {}
        at = (one.slot + 0.03, one.line + 0.05)
        axes.add_patch(Rectangle(at, 0.94, 0.9, fc=face, lw=0, **style))
        look: dict[str, Any] = {
            "color": on if mine else TEXT,
            "weight": "bold" if mine else "normal",
        }
        axes.text(one.slot + 0.5, one.line + 0.54, f"{one.row}.{one.chunk}", **_SMALL, **look)
