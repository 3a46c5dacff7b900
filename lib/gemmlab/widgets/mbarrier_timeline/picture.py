"""The PNG of MbarrierTimeline: lanes over time, and the barriers at the event that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...layouts.mbarrier.events import Bar, Run
from ..shared.bank_picture import MUTED, TEXT
from ..shared.base import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACCENT, _BAD = "#0068a3", "#b34700"
_LOOK: dict[str, dict[str, Any]] = {
    "read": {"facecolor": _ACCENT, "edgecolor": "white"},
    "bad": {"facecolor": "#f7e4d9", "edgecolor": _BAD, "hatch": "//"},
    "issue": {"facecolor": TEXT, "edgecolor": TEXT},
    "flight": {"facecolor": "white", "edgecolor": _ACCENT, "linestyle": "--"},
    "full": {"facecolor": "#d6e6f0", "edgecolor": _ACCENT},
}
_LANE, _ROW = 0.2, 0.15  # inches


def _draw_bar(axes: Axes, bar: Bar, lane: int, scale: float) -> None:
    from matplotlib.patches import Rectangle

    width = bar.end - bar.begin
    if bar.state in ("wait", "sync"):
        style = ":" if bar.state == "sync" else "-"
        axes.plot([bar.begin, bar.end], [lane + 0.5] * 2, color=MUTED, linewidth=1, linestyle=style)
        return
    box = Rectangle((bar.begin, lane + 0.08), width, 0.84, linewidth=0.6, **_LOOK[bar.state])
    axes.add_patch(box)
    text = f"{bar.tile}!" if bar.state == "bad" else str(bar.tile)
    if width > scale * (0.01 + 0.015 * len(text)) and bar.state != "issue":
        axes.text(
            (bar.begin + bar.end) / 2,
            lane + 0.52,
            text,
            fontsize=6.5,
            ha="center",
            va="center",
            color="white" if bar.state == "read" else TEXT,
        )


def _rows(run: Run, index: int) -> list[tuple[str, bool]]:
    """The state of every barrier after an event, and whether the event touched it."""
    event = run.events[index]
    return [
        (
            f"{name}[{stage}]  phase {bar.phase}, parity {bar.parity}, "
            f"pending {bar.pending} of {bar.count}"
            + (f", tx {bar.tx:,}" if name == "full" else ""),
            event.after is not None and (event.name, event.stage) == (name, stage),
        )
        for (name, stage), bar in run.states[index].items()
    ]


def mbarrier_figure(title: str, run: Run, index: int) -> Figure:
    """The lanes to the end of the run, 3.8 inches wide; few shades, to keep pages small."""
    rows, event = _rows(run, index), run.events[index]
    body = _LANE * len(run.lanes)
    height = 0.34 + body + 0.5 + _ROW * len(rows) + 0.16
    figure = new_figure(3.8, height)
    head = f"{title[0].upper()}{title[1:]}"
    figure.text(0.02, 1 - 0.08 / height, head, fontsize=8, weight="bold", va="top", color=TEXT)
    scale = run.total * 1.04 or 100
    axes = figure.add_axes((0.17, 1 - (0.34 + body) / height, 0.81, body / height))
    axes.set_xlim(0, scale)
    axes.set_ylim(len(run.lanes), 0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(axis="x", labelsize=6.5, length=2, colors=MUTED)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{int(value):,}")
    axes.set_yticks([i + 0.5 for i in range(len(run.lanes))], [name for name, _ in run.lanes])
    axes.tick_params(axis="y", labelsize=7, length=0, colors=TEXT)
    for i, (_, bars) in enumerate(run.lanes):
        for bar in bars:
            _draw_bar(axes, bar, i, scale)
    axes.axvline(event.time, color=TEXT, linewidth=1.2)
    top = 1 - (0.34 + body + 0.42) / height
    for i, (text, touched) in enumerate(rows):
        weight = "bold" if touched else "normal"
        figure.text(
            0.02,
            top - i * _ROW / height,
            f"{'▸' if touched else '  '} {text}",
            fontsize=6.8,
            va="top",
            color=TEXT,
            weight=weight,
        )
    note = f"At {event.time:,} of a model. Dashed: copy on its way; framed: landed; line: waits."
    figure.text(0.02, 0.05 / height, note, fontsize=6.5, color=MUTED)
    return figure
