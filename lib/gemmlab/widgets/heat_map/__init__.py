"""HeatMap: configurations as cells of a map, coloured by one of several metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ...core.arguments import choice, instance, sequence, text
from ...core.errors import ArgumentError
from ..shared.bank_picture import MUTED, TEXT
from ..shared.base import Widget, new_figure, small_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Metric:
    """What a map can show.

    label: on its button. unit: of its values. origin: where they come from, a sentence. digits:
    after the point. less: less of it is better. A strong color always means better. limit: a
    value at which the map has a contour, named by limit_is, such as "what mma.sync computes".
    """

    label: str
    unit: str
    origin: str
    digits: int = 2
    less: bool = False
    limit: float | None = None
    limit_is: str = ""

    def show(self, value: float | None) -> str:
        """A value as it appears in a cell; "-" if there is none."""
        return "-" if value is None else f"{value:,.{self.digits}f}"


class HeatMap(Widget):
    """A map of configurations: one cell for each, with its value as a number and as a color.

    rows: mappings with the keys of `rows_by` and `columns_by`, one for each metric (None: not
    known), and, if wanted, "also": what the name of the cell adds to those keys, and "note": a
    sentence for the reader who chooses the cell.
    metrics: key -> Metric, in the order of the buttons; metric: the first one shown (default: the
    first with a value). rows_by, columns_by: the keys that make up the two axes.
    invalid: says why a cell without a row has none, from a mapping of its keys.
    together: a metric; cells in which it is equal are marked with the chosen one, and compared
    below the map. chosen: the keys of the cell that is chosen at first (default: the best).
    caption: one question, with `code` and **bold**. Raises ArgumentError, naming the argument.
    """

    _script = "heat_map/widget.js"
    _sheets = ("heat_map/widget.css",)

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        metrics: Mapping[str, Metric],
        *,
        rows_by: Sequence[str] = ("TM", "TN"),
        columns_by: Sequence[str] = ("WMITER", "WNITER"),
        metric: str | None = None,
        invalid: Callable[[dict], str] | None = None,
        together: str | None = None,
        chosen: Mapping[str, Any] | None = None,
        caption: str = "",
    ) -> None:
        axes = (tuple(rows_by), tuple(columns_by))
        table, metrics = [_row(row) for row in sequence("rows", rows, "[{...}]")], dict(metrics)
        _check(table, metrics, axes, caption)
        known = [key for key in metrics if any(row.get(key) is not None for row in table)]
        if not known:
            raise ArgumentError("rows: none has a value of any metric")
        for name, key in (("metric", metric), ("together", together)):
            if key is not None:
                choice(name, key, known, lead=", there are values of ")
        labels = [_labels(table, axis) for axis in axes]
        notes = sorted({row["note"] for row in table if row.get("note")})
        cells = _cells(table, known, axes, labels, invalid, notes)
        metric = metric or known[0]
        less = metrics[metric].less
        place = _place(cells, known.index(metric), less, chosen, axes, labels)
        super().__init__(
            config={
                "axes": [list(axis) for axis in axes],
                "labels": [[", ".join(map(str, v)) for v in axis] for axis in labels],
                "cells": cells,
                "notes": notes,
                "metrics": [{"key": key, **asdict(metrics[key])} for key in known],
                "together": together,
                "caption": caption,
            },
            state={"metric": metric, **place},
        )

    @property
    def _at(self) -> int:
        """Where the values of the shown metric stand in a cell's."""
        return [m["key"] for m in self.config["metrics"]].index(self.state["metric"])

    @property
    def metric(self) -> Metric:
        """The metric that is shown now."""
        found = self.config["metrics"][self._at]
        return Metric(**{key: value for key, value in found.items() if key != "key"})

    @property
    def chosen(self) -> dict:
        """The chosen cell: its name, and its values or the reason why it has none."""
        at = (self.state["row"], self.state["col"])
        cell = self.config["cells"][at[0]][at[1]]
        values = [self.config["labels"][i][at[i]].split(", ") for i in (0, 1)]
        keys = zip(self.config["axes"], values, strict=True)
        parts = [f"{k} {v}" for axis, row in keys for k, v in zip(axis, row, strict=True)]
        return {**cell, "name": ", ".join([*parts, *([cell["also"]] if "also" in cell else [])])}

    def summary(self) -> str:
        """The metric's range and the chosen cell in words."""
        at, metric = self._at, self.metric
        cells = (cell for row in self.config["cells"] for cell in row if "values" in cell)
        values = [cell["values"][at] for cell in cells if cell["values"][at] is not None]
        low, high = metric.show(min(values)), metric.show(max(values))
        text = f"{metric.label} of {len(values)} configurations: {low} to {high} {metric.unit}. "
        cell = self.chosen
        if "reason" in cell:
            return text + f"{cell['name']}: {cell['reason']}."
        return text + f"{cell['name']}: {metric.show(cell['values'][at])} {metric.unit}."

    def figure(self) -> Figure:
        """The map, drawn for 390 pixels."""
        return heat_figure(self.config, self._at, self.metric)

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(instance("rows", row, Mapping, "a table of names and values for each"))


def _check(rows: list[dict], metrics: dict, axes: tuple, caption: object) -> None:
    text("caption", caption)
    if not metrics or not all(isinstance(metric, Metric) for metric in metrics.values()):
        raise ArgumentError("metrics: expected one or more, such as {'tflops': Metric(...)}")
    if not rows:
        raise ArgumentError("rows: there are none")
    seen = set()
    for row in rows:
        missing = [key for axis in axes for key in axis if key not in row]
        if missing:
            raise ArgumentError(f"rows: one has no {', '.join(missing)}")
        at = tuple(row[key] for axis in axes for key in axis)
        if at in seen:
            raise ArgumentError(f"rows: two have {_name(dict(row), axes)}")
        seen.add(at)


def _labels(rows: list[dict], axis: Sequence[str]) -> list[tuple]:
    return sorted({tuple(row[key] for key in axis) for row in rows})


def _name(row: Mapping[str, Any], axes: tuple) -> str:
    return ", ".join(f"{key} {row[key]}" for axis in axes for key in axis)


def _cells(
    rows: list[dict],
    metrics: Sequence[str],
    axes: tuple,
    labels: list[list[tuple]],
    invalid: Callable[[dict], str] | None,
    notes: list[str],
) -> list[list[dict]]:
    """Every place of the map: its values, or the reason why there are none."""
    found = {tuple(row[key] for axis in axes for key in axis): row for row in rows}
    keys = [key for axis in axes for key in axis]

    def cell(at: tuple) -> dict:
        row = found.get(at)
        if row is None:
            reason = invalid(dict(zip(keys, at, strict=True))) if invalid else ""
            return {"reason": reason or "not part of this experiment"}
        extra = {"also": row["also"]} if row.get("also") else {}
        extra |= {"note": notes.index(row["note"])} if row.get("note") else {}
        return {"values": [row.get(key) for key in metrics], **extra}

    return [[cell(left + top) for top in labels[1]] for left in labels[0]]


def _place(
    cells: list[list[dict]],
    metric: int,
    less: bool,
    chosen: Mapping[str, Any] | None,
    axes: tuple,
    labels: list[list[tuple]],
) -> dict[str, int]:
    """Row and column of the chosen cell, or of the best one."""
    if chosen is not None:
        at = [tuple(chosen.get(name) for name in axis) for axis in axes]
        if any(value not in axis for value, axis in zip(at, labels, strict=True)):
            raise ArgumentError(f"chosen: got {dict(chosen)}, which is no cell of this map")
        return {"row": labels[0].index(at[0]), "col": labels[1].index(at[1])}
    places = [
        (cell["values"][metric] * (-1 if less else 1), -r, -c)
        for r, row in enumerate(cells)
        for c, cell in enumerate(row)
        if "values" in cell and cell["values"][metric] is not None
    ]
    _, r, c = max(places)
    return {"row": -r, "col": -c}


_WEAK, _STRONG = (0xF1, 0xF6, 0xFA), (0x4F, 0x9F, 0xD0)  # as in widget.js
_CELL = 0.22  # inches


def shade(part: float) -> tuple[tuple[float, float, float], str]:
    """The colour from weak (0) to strong (1), and that of text on it; as widget.js has it."""
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
