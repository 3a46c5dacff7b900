"""The PNG of SwizzleWorkshop: the chunks of 16 rows, each with its group of banks."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts.shared.copies import PIECE
from ...layouts.shared.ldmatrix import GROUPS, ChunkTile
from ...layouts.shared.swizzle import BitXor
from ..shared.bank_picture import LINE, MUTED, TEXT, bank_colour
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _ROW, _ROWS = 3.8, 0.15, 16


def swizzle_figure(
    tile: ChunkTile, xor: BitXor, cells: list[tuple[int, int]], reading: str
) -> Figure:
    """The figure, 3.8 inches wide: the reading, then the chunks; full colour: those of `cells`."""
    from matplotlib.patches import Rectangle

    lines = wrap(reading, 60)
    top = 0.08 + LINE * len(lines) + 0.06
    tall = _ROW * (_ROWS + 1.2)
    height = top + tall + LINE * 2
    figure = new_figure(_WIDTH, height)
    style: dict[str, Any] = {"va": "top", "color": TEXT, "parse_math": False, "fontsize": 8}
    for n, line in enumerate(lines):
        figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, **style)
    axes = figure.add_axes((0.01, 1 - (top + tall) / height, 0.98, tall / height))
    axes.set_xlim(-0.075 * max(tile.chunks, 8), max(tile.chunks, 8) + 0.02)
    axes.set_ylim(_ROWS + 0.1, -1.1)
    axes.axis("off")
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
    for chunk in range(tile.chunks):
        axes.text(chunk + 0.5, -0.5, str(chunk), color=MUTED, **middle)
    for row in range(_ROWS):
        axes.text(-0.1, row + 0.5, str(row), color=MUTED, **{**middle, "ha": "right"})
        for chunk in range(tile.chunks):
            group = int(xor(tile.offset(row, chunk))) // PIECE % GROUPS
            (r, g, b), on = bank_colour(4 * group)
            mine = (row, chunk) in cells
            face = (r, g, b) if mine else tuple(1 - 0.18 * (1 - c) for c in (r, g, b))
            axes.add_patch(Rectangle((chunk + 0.03, row + 0.05), 0.94, 0.9, fc=face, lw=0))
            look: dict[str, Any] = {"color": on, "weight": "bold"} if mine else {"color": MUTED}
            axes.text(chunk + 0.5, row + 0.54, str(group), **middle, **look)
    note = (
        "A row of the picture is one of the tile, a cell a 16-byte chunk.\n"
        "The number g is its group of banks, 4g to 4g + 3; strong: read in this phase."
    )
    figure.text(0.02, (LINE * 2 - 0.03) / height, note, va="top", fontsize=7, color=MUTED)
    return figure
