"""The PNG of WgmmaOperand: the tile in lines of 128 bytes, and the pieces that wgmma reads."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ...layouts.wgmma.operand import Operand, Piece
from ..shared.bank_picture import LINE, MUTED, TEXT
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 4  # blocks of 1 KB side by side
_RIGHT, _WRONG, _MISSED = "#0068a3", "#b34700", "#ffffff"


def operand_figure(o: Operand, pieces: Sequence[Piece], reading: str) -> Figure:
    """The reading, then blocks of 8 lines of 128 bytes; 3.8 inches wide."""
    from matplotlib.patches import Rectangle

    lines = wrap(reading, 60)
    down = o.bytes // 1024 // _ACROSS
    top = 0.14 + LINE * len(lines)
    height = top + 0.85 * down + 0.05
    figure = new_figure(3.8, height)
    for n, line in enumerate(lines):
        y = 1 - (0.08 + LINE * n) / height
        figure.text(0.02, y, line, fontsize=8, va="top", color=TEXT, parse_math=False)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.85 * down / height))
    axes.set_xlim(0, 9 * _ACROSS)
    axes.set_ylim(10 * down, -1)
    axes.axis("off")
    looks = {p.wanted: (_MISSED, "#00704f") for p in pieces}
    looks |= {p.read: (_RIGHT if p.right else _WRONG, "white") for p in pieces}
    for block in range(o.bytes // 1024):
        x, y = 9 * (block % _ACROSS), 10 * (block // _ACROSS)
        axes.text(x, y - 0.2, f"{1024 * block:,}", fontsize=6, color=MUTED)
        for cell in range(64):
            face, edge = looks.get(1024 * block + 16 * cell, ("#eef1f4", "white"))
            at = (x + cell % 8, y + cell // 8)
            axes.add_patch(Rectangle(at, 1, 1, facecolor=face, edgecolor=edge, lw=0.5))
    return figure
