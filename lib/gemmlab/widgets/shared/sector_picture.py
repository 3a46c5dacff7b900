"""The PNG of TraceView for global memory: the touched sectors, two in a row."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts.shared.banks import SECTOR_BYTES
from .bank_picture import LINE, MUTED, TEXT
from .base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 2  # sectors in a row
_WORDS = SECTOR_BYTES // 4
_LEFT = 4.6  # words' width for the labels
_USED: dict[str, Any] = {"facecolor": "#0068a3", "edgecolor": "#c3cad2", "hatch": None, "lw": 0}
_UNUSED: dict[str, Any] = {**_USED, "facecolor": "#eef1f4", "hatch": "//////"}


def sectors(addresses: Sequence[int | None], width: int) -> dict[int, list[list[int]]]:
    """By the number of each touched sector, rising: the lanes that want each of its 8 words."""
    found: dict[int, list[list[int]]] = {}
    for lane, address in enumerate(addresses):
        if address is None:
            continue
        words = found.setdefault(address // SECTOR_BYTES, [[] for _ in range(_WORDS)])
        first = address % SECTOR_BYTES // 4
        for word in range(first, first + max(1, width // 4)):
            words[word].append(lane)
    return dict(sorted(found.items()))


def _draw(
    axes: Axes, touched: dict[int, list[list[int]]], rows: list[int], labels: list[str], size: float
) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(-_LEFT, _ACROSS * (_WORDS + 0.4))
    axes.set_ylim(len(rows), 0)
    axes.axis("off")
    small: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    for r, (row, label) in enumerate(zip(rows, labels, strict=True)):
        mono: dict[str, Any] = {"family": "monospace", "parse_math": False, "fontsize": size - 0.5}
        axes.text(-0.2, r + 0.5, label, color=MUTED, ha="right", va="center", **mono)
        for i in range(_ACROSS):
            left = i * (_WORDS + 0.4)
            words = touched.get(row * _ACROSS + i)
            for w, lanes in enumerate(words or []):
                look = _USED if lanes else _UNUSED
                axes.add_patch(Rectangle((left + w + 0.04, r + 0.1), 0.92, 0.8, **look))
                if lanes:
                    text = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
                    axes.text(left + w + 0.5, r + 0.52, text, color="white", **small)
            if words:
                axes.add_patch(
                    Rectangle((left, r + 0.04), _WORDS, 0.92, fill=False, lw=0.7, edgecolor=MUTED)
                )


def sector_figure(
    title: str, code: str, reading: str, addresses: Sequence[int | None], width: int, name
) -> Figure:
    """The figure, 3.8 inches wide; `name` says what lies at an address of global memory."""
    touched = sectors(addresses, width)
    rows = sorted({number // _ACROSS for number in touched})
    firsts = [min(n for n in touched if n // _ACROSS == row) for row in rows]
    labels = [name(first * SECTOR_BYTES) for first in firsts]
    head: list[tuple[str, dict[str, Any]]]
    head = [(line, {"fontsize": 8, "weight": "bold"}) for line in wrap(title, 52)]
    head += [(line, {"fontsize": 7.5, "family": "monospace"}) for line in wrap(code, 56)]
    head += [(line, {"fontsize": 8}) for line in wrap(reading, 60)]
    dense = len(rows) > 10
    top, block = 0.16 + LINE * len(head), (0.155 if dense else 0.24) * len(rows)
    figure = new_figure(3.8, top + block + 0.32)
    height = figure.get_size_inches()[1]
    for n, (line, style) in enumerate(head):
        y = 1 - (0.08 + LINE * n) / height
        figure.text(0.02, y, line, va="top", color=TEXT, parse_math=False, **style)
    axes = figure.add_axes((0.02, 1 - (top + block) / height, 0.97, block / height))
    _draw(axes, touched, rows, labels, 6 if dense else 7)
    note = "A box is a sector of 32 bytes; striped words are moved and not asked for."
    figure.text(0.02, 0.2 / height, note, va="top", fontsize=7, color=MUTED)
    return figure
