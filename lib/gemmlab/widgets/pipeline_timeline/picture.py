"""The PNG of PipelineTimeline: a lane each for the pipe, the path, the blocks and the buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...layouts.pipeline.model import PIPES, Bar, Pipeline
from ..shared.bank_picture import MUTED, TEXT
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACCENT, _BAD = "#0068a3", "#b34700"
_LOOK: dict[str, dict[str, Any]] = {
    "products": {"facecolor": _ACCENT, "edgecolor": "white"},
    "read": {"facecolor": _ACCENT, "edgecolor": "white"},
    "issue": {"facecolor": TEXT, "edgecolor": TEXT},
    "store": {"facecolor": "#8b949e", "edgecolor": TEXT},
    "flight": {"facecolor": "white", "edgecolor": _ACCENT, "linestyle": "--"},
    "arrived": {"facecolor": "#d6e6f0", "edgecolor": _ACCENT},
    "full": {"facecolor": "#d6e6f0", "edgecolor": _ACCENT},
    "old": {"facecolor": "none", "edgecolor": "#b4bdc6", "linestyle": ":"},
    "idle": {"facecolor": "#f7e4d9", "edgecolor": _BAD},
}
_Lanes = list[tuple[str, tuple[Bar, ...]]]
_LANE = 0.2  # inches


def _draw_bar(axes: Axes, bar: Bar, lane: int, scale: int, shared: bool) -> None:
    from matplotlib.patches import Rectangle

    width = bar.end - bar.begin
    if bar.state in ("wait", "queue"):
        axes.plot([bar.begin, bar.end], [lane + 0.5] * 2, color=MUTED, linewidth=1)
        return
    box = Rectangle((bar.begin, lane + 0.08), width, 0.84, linewidth=0.6, **_LOOK[bar.state])
    axes.add_patch(box)
    text = f"{bar.block}:{bar.tile}" if shared else str(bar.tile)
    if width > scale * (0.01 + 0.015 * len(text)) and bar.state not in ("flight", "store", "idle"):
        colour = {"products": "white", "read": "white", "issue": "white"}
        axes.text(
            (bar.begin + bar.end) / 2,
            lane + 0.52,
            text,
            fontsize=6.5,
            ha="center",
            va="center",
            color=colour.get(bar.state, TEXT),
        )


def pipeline_figure(title: str, run: Pipeline, lanes: _Lanes, scale: int) -> Figure:
    """The lanes up to the cycle `scale`, 3.8 inches wide; few shades, to keep pages small."""
    body = _LANE * len(lanes)
    figure = new_figure(3.8, 0.32 + body + 0.42)
    height = figure.get_size_inches()[1]
    figure.text(0.02, 1 - 0.08 / height, title, fontsize=8, weight="bold", va="top", color=TEXT)
    axes = figure.add_axes((0.2, 0.42 / height, 0.78, body / height))
    axes.set_xlim(0, scale)
    axes.set_ylim(len(lanes), 0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(axis="x", labelsize=6.5, length=2, colors=MUTED)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{int(value):,}")
    axes.set_yticks([i + 0.5 for i in range(len(lanes))], [name for name, _ in lanes])
    axes.tick_params(axis="y", labelsize=7, length=0, colors=TEXT)
    for i, (name, bars) in enumerate(lanes):
        shared = run.blocks > 1 and name in (*PIPES, "copy path")
        for bar in bars:
            _draw_bar(axes, bar, i, scale, shared)
    note = "Cycles of a model. Black: issue; grey: store; dashed: on its way; framed: complete."
    figure.text(0.02, 0.12 / height, note, fontsize=6.5, color=MUTED)
    return figure
