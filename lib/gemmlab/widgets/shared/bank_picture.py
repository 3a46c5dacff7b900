"""The PNG of BankMap: the 32 banks in two blocks of 16, a row per wavefront."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts import Request
from ...layouts.shared.banks import BANKS, Word
from .base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ANCHORS = ("0072b2", "56b4e9", "009e73", "f0e442", "e69f00", "d55e00", "cc79a7")
_BLOCK = 16
TEXT = "#1f2328"
MUTED = "#59636e"
LINE = 0.165  # inches from one line of text to the next


def bank_colour(bank: int) -> tuple[tuple[float, float, float], str]:
    """A bank's colour, going round the Okabe-Ito hues, and that of text on it; as bank_view.js."""
    at = bank / BANKS * len(_ANCHORS)
    ends = (_ANCHORS[int(at)], _ANCHORS[(int(at) + 1) % len(_ANCHORS)])
    a, b = ([int(end[i : i + 2], 16) for i in (0, 2, 4)] for end in ends)
    rgb = [round(x + (y - x) * (at % 1)) / 255 for x, y in zip(a, b, strict=True)]
    linear = [((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (rgb[0], rgb[1], rgb[2]), "#000000" if light > 0.18 else "#ffffff"


def _rows(request: Request) -> list[list[Word]]:
    """The words of each wavefront, phase after phase."""
    return [
        [word for word in phase.words if word.wavefront == w]
        for phase in request.phases
        for w in range(phase.wavefronts)
    ]


def _block(axes: Axes, rows: list[list[Word]], first: int, size: float) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(-1.2, _BLOCK)
    axes.set_ylim(len(rows) + 0.05, -1)
    axes.axis("off")
    small: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    axes.text(-0.2, -0.45, "bank", color=MUTED, ha="right", va="center", fontsize=6)
    for bank in range(first, first + _BLOCK):
        axes.text(bank - first + 0.5, -0.45, str(bank), color=MUTED, **{**small, "fontsize": 7.5})
    for r, row in enumerate(rows):
        axes.text(-0.3, r + 0.5, str(r + 1), color=MUTED, **small)
        words = {word.bank - first: word for word in row}
        for column in range(_BLOCK):
            word = words.get(column)
            colour, on = bank_colour(word.bank) if word else ("#f3f5f7", TEXT)
            axes.add_patch(Rectangle((column + 0.05, r + 0.06), 0.9, 0.88, facecolor=colour, lw=0))
            if word:
                many = len(word.lanes)
                label = str(word.lanes[0]) if many == 1 else f"×{many}"
                axes.text(column + 0.5, r + 0.52, label, color=on, **small)


def bank_figure(title: str, pattern: str, request: Request | None, reading: str) -> Figure:
    """The figure for one request, 3.8 inches wide; without a request it has only the reading."""
    rows = _rows(request) if request else []
    used = [i for i in (0, 1) if any(w.bank // _BLOCK == i for row in rows for w in row)]
    dense = len(rows) > 10
    block = (0.155 if dense else 0.24) * (len(rows) + 1.05)
    head: list[tuple[str, dict[str, Any]]]
    head = [(line, {"fontsize": 8, "weight": "bold"}) for line in wrap(title, 52)]
    head += [(line, {"fontsize": 7.5, "family": "monospace"}) for line in wrap(pattern, 56)]
    head += [(line, {"fontsize": 8}) for line in wrap(reading, 60)]
    top = 0.08 + LINE * len(head) + 0.08
    figure = new_figure(3.8, top + len(used) * (block + 0.12) + (0.24 if rows else 0.0))
    height = figure.get_size_inches()[1]
    for n, (line, style) in enumerate(head):
        y = 1 - (0.08 + LINE * n) / height
        figure.text(0.02, y, line, va="top", color=TEXT, parse_math=False, **style)
    for n, i in enumerate(used):
        bottom = 1 - (top + n * (block + 0.12) + block) / height
        axes = figure.add_axes((0.02, bottom, 0.97, block / height))
        _block(axes, rows, i * _BLOCK, 6.5 if dense else 7.5)
    note = "A row is one wavefront; the number is the lane."
    if len(used) == 1:
        first = _BLOCK * (1 - used[0])
        note += f" Banks {first} to {first + _BLOCK - 1} are idle."
    if rows:
        figure.text(0.02, 0.2 / height, note, va="top", fontsize=7, color=MUTED)
    return figure
