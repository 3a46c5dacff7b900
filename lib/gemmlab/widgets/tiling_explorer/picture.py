"""The PNG of TilingExplorer: the tile of C with the strips of A and B, one thread, the costs."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...layouts.tiling.facts import Fact
from ...layouts.tiling.tiling import Tiling
from ..shared.bank_picture import LINE, MUTED, TEXT
from ..shared.base import new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HUES = ("#c0dcec", "#f9e6c0", "#c0e6dc", "#f3dee9", "#d5edf9", "#f5d6c0", "#edeac0", "#e4e4e4")
_ACCENT = "#0068a3"
_WIDTH = 3.8


def _box(axes: Axes, at: tuple[float, float], size: tuple[float, float], **style: Any) -> None:
    """A rectangle of (rows, columns) at (row, column)."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((at[1], at[0]), size[1], size[0], **{"lw": 0, **style}))


def _tile(axes: Axes, t: Tiling, thread: int) -> None:
    gap = max(t.BM, t.BN) / 60
    strip = max(t.BK, max(t.BM, t.BN) / 16)
    axes.set_xlim(-gap - strip, t.BN + 0.5)
    axes.set_ylim(t.BM + 0.5, -gap - strip)
    axes.set_aspect("equal")
    axes.axis("off")
    _box(axes, (0, -gap - strip), (t.BM, strip), facecolor="#e4e8ec")
    _box(axes, (-gap - strip, 0), (strip, t.BN), facecolor="#e4e8ec")
    for text, x, y in (("A", -gap - strip / 2, -gap * 2), ("B", -gap * 2, -gap - strip / 2)):
        axes.text(x, y, text, ha="center", va="center", fontsize=8, weight="bold", color=TEXT)
    centre: dict[str, Any] = {"ha": "center", "va": "center", "color": TEXT}
    for warp in range(t.threads // 32):
        top, left = warp // t.warp_cols * t.WM, warp % t.warp_cols * t.WN
        edge = {"edgecolor": MUTED, "lw": 0.6}
        _box(axes, (top, left), (t.WM, t.WN), facecolor=_HUES[warp % len(_HUES)], **edge)
        name = f"warp {warp}" if t.warp_cols < 5 else str(warp)
        if t.threads <= 512:
            axes.text(left + t.WN / 2, top + t.WM / 2, name, fontsize=7.5, **centre)
    for m in t.row_runs(thread):
        _box(axes, (m, -gap - strip), (t.TM, strip), facecolor=_ACCENT, alpha=0.6)
    for n in t.column_runs(thread):
        _box(axes, (-gap - strip, n), (strip, t.TN), facecolor=_ACCENT, alpha=0.6)
    for m in t.row_runs(thread):
        for n in t.column_runs(thread):
            _box(axes, (m, n), (t.TM, t.TN), facecolor=_ACCENT)


def tiling_figure(
    title: str, reading: str, t: Tiling | None, thread: int, table: Sequence[Fact]
) -> Figure:
    """The figure, 3.8 inches wide; without a tiling it has only the words."""
    head = [(line, {"weight": "bold"}) for line in wrap(title, 52)]
    head += [(line, {}) for line in wrap(reading, 60)]
    top = 0.08 + LINE * len(head) + 0.06
    side = 0.0 if t is None else min(3.0, 3.0 * t.BM / t.BN)
    height = top + side + 0.1 + LINE * len(table) + 0.08
    figure = new_figure(_WIDTH, height)
    style: dict[str, Any] = {"va": "top", "color": TEXT, "parse_math": False, "fontsize": 8}
    for n, (line, more) in enumerate(head):
        figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, **{**style, **more})
    if t is not None:
        axes = figure.add_axes((0.02, 1 - (top + side) / height, 0.96, side / height))
        _tile(axes, t, thread)
    for n, fact in enumerate(table):
        y = 1 - (top + side + 0.1 + LINE * n) / height
        figure.text(0.02, y, fact.name, **style)
        figure.text(0.72, y, fact.value, **{**style, "weight": "bold"})
    return figure


def tile_png(t: Tiling, thread: int) -> bytes:
    """The tile alone as a PNG, for a page that has the words beside it."""
    figure = new_figure(_WIDTH, min(3.0, 3.0 * t.BM / t.BN))
    _tile(figure.add_axes((0.02, 0.0, 0.96, 1.0)), t, thread)
    return png_bytes(figure, 14)
