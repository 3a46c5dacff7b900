"""Ladder: measured steps as bars beside cuBLAS; one picks the size, the metric and the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...core.arguments import choice, instance, integer, sequence, text
from ...core.errors import ArgumentError
from ...display.numbers import short, show_share, show_size
from ...measurements.provenance import origin
from ...measurements.rows import BASELINES, BenchRow
from ...steps.chapters import chapter_of
from ..shared.base import Widget, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = {
    "tflops": "TFLOP/s",
    "ratio": "of cuBLAS",
    "of_mma": "of what mma.sync does on registers",
    "flop_per_clk_sm": "FLOP per clock and SM",
    "time_us": "time in microseconds",
}


class Ladder(Widget):
    """A chart of one benchmark: a bar a kernel, cuBLAS as a bar and as a line.

    rows: a BenchResult, or an iterable of mappings or dataclasses with kernel, M, N, K and any of
    tflops, ratio (to cuBLAS), flop_per_clk_sm, time_us, label; "cublas" and "cublaslt_best" are
    baselines. Where rows tell a mode, an L2 state or a precision, those of `mode`, `l2` and
    `precision` (if not given, the first row's) are shown.
    environment: GPU, date, driver, CUDA, as text or as a BenchResult's table; source: "recorded" or
    "live"; both come from the BenchResult if one is given. size: "4096" (default: the largest).
    ceiling: TFLOP/s of mma.sync on registers alone: rows are then also shown as shares of it.
    metric: a key of METRICS. highlight: a kernel to set off (default: `until`). until: the last
    kernel to show, in the order of the rows. steps: how many to show at first, the last ones; a
    button shows all. In the book a step's name leads to its chapter. caption: text with `code` and
    **bold**. others: by the name of a GPU, the rows of the same kernels there and their
    environment; the reader then chooses between it and `gpu`, which names that of `rows`.
    Raises ArgumentError, naming the argument.
    """

    _script = "ladder/widget.js"
    _sheets = ("ladder/widget.css",)

    def __init__(
        self,
        rows: Any,
        environment: str | Mapping[str, Any] = "",
        source: str = "recorded",
        *,
        size: str | int | None = None,
        metric: str = "tflops",
        highlight: str | None = None,
        until: str | None = None,
        steps: int = 5,
        caption: str = "",
        mode: str = "interleaved",
        l2: str = "cold",
        precision: str = "",
        ceiling: float | None = None,
        gpu: str = "",
        others: Mapping[str, tuple[Any, str | Mapping[str, Any]]] | None = None,
    ) -> None:
        rows, environment, source = _measured(rows, environment, source)
        kept = _add_shares(_until(_rows(rows, mode, l2, precision), until), ceiling)
        sizes = list(dict.fromkeys(row["size"] for row in kept))
        chosen = _one_of("size", sizes[-1] if size is None else str(size), sizes)
        metrics = [m for m in METRICS if any(row[m] is not None for row in kept)]
        _one_of("metric", metric, metrics)
        highlight = _set_off(highlight or until, kept)
        super().__init__(
            config={
                "rows": kept,
                "steps": integer("steps", steps, 1),
                "sizes": sizes,
                "metrics": metrics,
                "highlight": highlight,
                "origin": _origin(environment, source),
                "caption": caption,
                "gpu": text("gpu", gpu),
                "others": _elsewhere(others or {}, (mode, l2, precision), kept, metrics, source),
            },
            state={"size": chosen, "metric": metric, "gpu": gpu, "all": False},
        )

    def _other(self) -> dict[str, Any]:
        """The GPU that was picked, {} for that of the rows."""
        wanted = self.state["gpu"]
        return next((each for each in self.config["others"] if each["gpu"] == wanted), {})

    def _made(self) -> str:
        return self._other().get("origin", self.config["origin"])

    def _shown(self) -> list[dict]:
        rows, metrics = self.config["rows"], self.config["metrics"]
        if other := self._other():
            rows = [
                row | dict(zip(metrics, values, strict=True))
                for row, values in zip(rows, other["values"], strict=True)
            ]
        return [row for row in rows if row["size"] == self.state["size"]]

    def _window(self) -> list[dict]:
        """The rows that are drawn: the last steps and the baselines, or all."""
        rows = self._shown()
        steps = [row for row in rows if not row["baseline"]]
        hidden = [] if self.state["all"] else steps[: -self.config["steps"]]
        return [row for row in rows if row not in hidden]

    def summary(self) -> str:
        """Every bar in words, also of those that are not drawn."""
        metric = self.state["metric"]
        bars = ", ".join(f"{r['label']} {_value(r[metric], metric)}" for r in self._shown())
        return f"{METRICS[metric]} at {self.state['size']}: {bars}. {self._made()}."

    def figure(self) -> Figure:
        """The bars at the chosen size and metric, drawn for 390 pixels."""
        metric, rows = self.state["metric"], self._window()
        origin = _folded(self._made())
        room = 0.5 + 0.12 * max(0, origin.count("\n") - 1)  # below the bars
        height = 0.45 + room + 0.34 * len(rows)
        figure = new_figure(3.8, height)
        axes = figure.add_axes((0.02, room / height, 0.96, 1 - (0.4 + room) / height))
        most = max([row[metric] or 0 for row in rows] + [1e-30])
        for i, row in enumerate(rows):
            value = row[metric] or 0
            now = row["kernel"] == self.config["highlight"]
            colour = "#b4bdc6" if row["baseline"] else "#0068a3" if now else "#56a0cf"
            axes.barh(i, value / most, height=0.62, left=0.0, color=colour)
            style: dict[str, Any] = {
                "fontsize": 8,
                "va": "center",
                "weight": "bold" if now else "normal",
            }
            axes.text(-0.03, i, row["label"], ha="right", **style)
            axes.text(value / most + 0.02, i, _value(row[metric], metric), ha="left", **style)
        reference = next((r[metric] for r in rows if r["kernel"] == "cublas" and r[metric]), None)
        if reference:
            axes.axvline(reference / most, color="#b34700", linestyle="--", linewidth=1.2)
        axes.set_xlim(-0.78, 1.3)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.axis("off")
        title = f"{METRICS[metric]} at {self.state['size']}"
        figure.text(0.02, 1 - 0.08 / height, title, fontsize=9, weight="bold", va="top")
        figure.text(0.98, 0.1 / height, origin, fontsize=6.5, color="#57606b", ha="right")
        return figure


def _folded(line: str) -> str:
    from textwrap import fill

    return fill(line, 78 if len(line) < 2 * 78 else 70)


def _value(value: float | None, metric: str) -> str:
    if value is None:
        return "not measured"
    if metric in ("ratio", "of_mma"):
        return show_share(value)
    if metric == "flop_per_clk_sm":
        return f"{value:,.0f}"
    if metric == "time_us":
        return f"{_three(value)} µs" if value < 1000 else f"{_three(value / 1000)} ms"
    return _three(value)


def _three(value: float) -> str:
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _one_of(name: str, value: str, allowed: list[str]) -> str:
    choice(name, value, dict.fromkeys(allowed), lead=", there is ")
    return value


def _rows(rows: Iterable[Any], mode: str, l2: str, precision: str) -> list[dict]:
    """Plain rows, kernels before baselines, sizes rising."""
    found: dict[tuple[str, str], dict] = {}
    for given in sequence("rows", rows, "what lab.bench gives"):
        instance("rows", given, Mapping | BenchRow, "rows of lab.bench, or tables of values")
        row = dict(given) if isinstance(given, Mapping) else asdict(given)
        missing = [key for key in ("kernel", "M", "N", "K") if key not in row]
        if missing:
            raise ArgumentError(f"rows: one has no {', '.join(missing)}")
        precision = precision or row.get("precision", "")
        asked = {"mode": mode, "l2": l2, "precision": precision}
        if any(row.get(key, value) != value for key, value in asked.items()):
            continue
        shape = (row["M"], row["N"], row["K"])
        size = show_size(shape)
        key = (row["kernel"], size)
        if key in found:
            raise ArgumentError(f"rows: {row['kernel']} at {size} appears twice")
        found[key] = {
            "kernel": row["kernel"],
            "label": row.get("label") or short(row["kernel"]),
            "size": size,
            "volume": shape[0] * shape[1] * shape[2],
            "baseline": row["kernel"] in BASELINES,
            "estimated": bool(row.get("estimated")),
            "chapter": chapter_of(row["kernel"]),
            **{metric: row.get(metric) for metric in METRICS},
        }
    if not found:
        raise ArgumentError("rows: there are none")
    return sorted(found.values(), key=lambda row: (row["volume"], row["size"], row["baseline"]))


def _measured(
    rows: Any, environment: str | Mapping[str, Any], source: str
) -> tuple[Any, str | Mapping[str, Any], str]:
    """Rows, environment and source as given, or those of a BenchResult."""
    if hasattr(rows, "rows") and hasattr(rows, "environment"):
        rows, environment, source = rows.rows, rows.environment, rows.source
    choice("source", source, ("recorded", "live"), quoted=True)
    return rows, environment, source


def _set_off(kernel: str | None, rows: list[dict]) -> str | None:
    """The kernel to set off, which has to be among the rows."""
    return _one_of("highlight", kernel, [row["kernel"] for row in rows]) if kernel else None


def _elsewhere(
    others: Mapping[str, tuple[Any, str | Mapping[str, Any]]],
    asked: tuple[str, str, str],
    shown: list[dict],
    metrics: list[str],
    source: str,
) -> list[dict[str, Any]]:
    """What the widget has of the other GPUs: numbers for each row that it shows.

    asked: mode, L2 state and precision of their rows.
    """
    return [
        {
            "gpu": text("others", gpu),
            "values": _values(_rows(rows, *asked), shown, metrics),
            "origin": _origin(environment, source),
        }
        for gpu, (rows, environment) in others.items()
    ]


def _values(rows: list[dict], shown: list[dict], metrics: list[str]) -> list[list[float | None]]:
    """For each row that is shown its numbers there, in the order of the metrics, to four digits."""
    there = {(row["kernel"], row["size"]): row for row in rows}
    found = [there.get((row["kernel"], row["size"]), {}) for row in shown]
    return [
        [None if (n := row.get(metric)) is None else float(f"{n:.4g}") for metric in metrics]
        for row in found
    ]


def _add_shares(rows: list[dict], ceiling: float | None) -> list[dict]:
    """Rows with their share of a ceiling in TFLOP/s, where one is given."""
    for row in rows if ceiling else ():
        row["of_mma"] = row["tflops"] / ceiling if row["tflops"] else None
    return rows


def _until(rows: list[dict], until: str | None) -> list[dict]:
    """The ladder up to and with `until`; the baselines stay."""
    if until is None:
        return rows
    steps = list(dict.fromkeys(row["kernel"] for row in rows if not row["baseline"]))
    _one_of("until", until, steps)
    kept = steps[: steps.index(until) + 1]
    return [row for row in rows if row["baseline"] or row["kernel"] in kept]


def _origin(environment: str | Mapping[str, Any], source: str) -> str:
    if not isinstance(environment, str):
        environment = origin(dict(environment))
    if not environment.strip():
        raise ArgumentError("environment: it is empty; name GPU, date, driver and CUDA")
    return f"{'recorded' if source == 'recorded' else 'measured now'} on {environment}"
