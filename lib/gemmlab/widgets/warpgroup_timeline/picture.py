"""The PNG of WarpgroupTimeline: a lane each for the tensor cores, the warpgroups and the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...layouts.warpgroups.trace import Lanes
from ..shared.bank_picture import MUTED, TEXT
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACCENT, _SECOND, _BAD = "#0068a3", "#8a5a00", "#b34700"
_LOOK: dict[str, dict[str, Any]] = {
    "products": {"facecolor": _ACCENT, "edgecolor": "white"},
    "second": {"facecolor": _SECOND, "edgecolor": "white"},
    "both": {"facecolor": _ACCENT, "edgecolor": _SECOND, "hatch": "//////"},
    "issue": {"facecolor": TEXT, "edgecolor": TEXT},
    "store": {"facecolor": "#8b949e", "edgecolor": TEXT},
    "pack": {"facecolor": TEXT, "edgecolor": TEXT},
    "flight": {"facecolor": "white", "edgecolor": _ACCENT, "linestyle": "--"},
    "full": {"facecolor": "#d6e6f0", "edgecolor": _ACCENT},
    "read": {"facecolor": _ACCENT, "edgecolor": "white"},
    "old": {"facecolor": "none", "edgecolor": "#b4bdc6", "linestyle": ":"},
    "idle": {"facecolor": "#f7e4d9", "edgecolor": _BAD},
}
_LANE = 0.2  # inches
_LINES = {"wait": "-", "data": "-", "turn": ":"}


def warpgroup_figure(title: str, lanes: Lanes, total: int, of: str) -> Figure:
    """Lanes up to cycle `total`, 3.8 inches wide; few shades, to keep pages small.

    of: whose cycles they are, "of a model".
    """
    from matplotlib.patches import Rectangle

    body = _LANE * len(lanes)
    figure = new_figure(3.8, 0.32 + body + 0.42)
    height = figure.get_size_inches()[1]
    figure.text(0.02, 1 - 0.08 / height, title, fontsize=8, weight="bold", va="top", color=TEXT)
    axes = figure.add_axes((0.2, 0.42 / height, 0.78, body / height))
    axes.set_xlim(0, total)
    axes.set_ylim(len(lanes), 0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(axis="x", labelsize=6.5, length=2, colors=MUTED)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{int(value):,}")
    axes.set_yticks([i + 0.5 for i in range(len(lanes))], [name for name, _ in lanes])
    axes.tick_params(axis="y", labelsize=7, length=0, colors=TEXT)
    for i, (_, bars) in enumerate(lanes):
        for bar in bars:
            if line := _LINES.get(bar.state):
                axes.plot([bar.begin, bar.end], [i + 0.5] * 2, line, color=MUTED, linewidth=1)
                continue
            if bar.state == "none":
                continue
            at, wide = (bar.begin, i + 0.08), bar.end - bar.begin
            axes.add_patch(Rectangle(at, wide, 0.84, linewidth=0.6, **_LOOK[bar.state]))
    note = f"Cycles {of}. Blue: consumer 0, brown: consumer 1; grey: C is stored."
    figure.text(0.02, 0.12 / height, note, fontsize=6.5, color=MUTED)
    return figure
