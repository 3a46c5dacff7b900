"""The PNG of HeatMap: a square for each configuration, stronger where it is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._bank_picture import MUTED, TEXT
from ._base import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .heat_map import Metric

_WEAK, _STRONG = (0xF1, 0xF6, 0xFA), (0x00, 0x5A, 0x8F)  # as in heat_map.js
_CELL = 0.22  # inches


def shade(part: float) -> tuple[tuple[float, float, float], str]:
    """The colour from weak (0) to strong (1), and that of text on it; as heat_map.js has it."""
    rgb = [round(a + (b - a) * part) / 255 for a, b in zip(_WEAK, _STRONG, strict=True)]
    linear = [((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (rgb[0], rgb[1], rgb[2]), "#000000" if light > 0.18 else "#ffffff"


def heat_figure(config: dict, at: int, metric: Metric) -> Figure:
    """The map of the metric at place `at` of each cell, 3.8 inches wide."""
    from matplotlib.patches import Rectangle

    cells = config["cells"]
    values = [c["values"][at] for row in cells for c in row if "values" in c]
    values = [value for value in values if value is not None]
    low, span = min(values), (max(values) - min(values)) or 1
    body = _CELL * len(cells)
    figure = new_figure(3.8, body + 0.86)
    height = figure.get_size_inches()[1]
    title = f"{metric.label}, {metric.unit}"
    figure.text(0.02, 1 - 0.07 / height, title, fontsize=8, weight="bold", va="top", color=TEXT)
    names = [", ".join(axis) for axis in config["axes"]]
    heads = f"rows: {names[0]}; columns: {names[1]}"
    figure.text(0.02, 1 - 0.24 / height, heads, fontsize=7, va="top", color=MUTED)
    axes = figure.add_axes((0.14, 0.22 / height, 0.84, body / height))
    axes.set_xlim(0, len(cells[0]))
    axes.set_ylim(len(cells), 0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelsize=7, colors=TEXT)
    axes.xaxis.tick_top()
    axes.set_xticks([i + 0.5 for i in range(len(cells[0]))], config["labels"][1])
    axes.set_yticks([i + 0.5 for i in range(len(cells))], config["labels"][0])
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            if "reason" in cell:
                continue
            value = cell["values"][at]
            part = 0 if value is None else (value - low) / span
            part = round(8 * (1 - part if metric.less else part)) / 8  # few colours: a small file
            face, colour = shade(part)
            box = Rectangle((c + 0.03, r + 0.05), 0.94, 0.9, linewidth=0, facecolor=face)
            axes.add_patch(box)
            text = metric.show(value)
            axes.text(c + 0.5, r + 0.53, text, fontsize=6.5, ha="center", va="center", color=colour)
    note = "Stronger colour: better. Empty: no configuration of this experiment."
    figure.text(0.02, 0.06 / height, note, fontsize=6.5, color=MUTED)
    return figure
