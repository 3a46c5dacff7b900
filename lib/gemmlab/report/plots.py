"""The book's figures: the ladder of steps, the roofline, and curves over size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import measurements
from ..core.arguments import choice, one_or_several
from ..core.errors import ArgumentError, MeasurementError
from ..display.figure import Figure
from ..display.numbers import short, show_rate, show_share
from ..measurements.provenance import origin
from ..measurements.rows import BASELINES, BenchResult, BenchRow
from ..measurements.store import Measurements
from ..steps import registry
from . import draw
from .diagrams import schedule_diagram, sector_diagram, tile_diagram
from .ladder import Bar, LadderRows, draw_ladder, recorded
from .roofline import draw_roofline, in_words, picture_of
from .roofs import ALL_LEVELS, LEVELS, Over, Point, Roof, over, recorded_points, recorded_roofs
from .walk import recorded_runs, recorded_steps

__all__ = [
    "ALL_LEVELS",
    "LEVELS",
    "METRICS",
    "Over",
    "Point",
    "Roof",
    "ladder_chart",
    "lines",
    "over",
    "recorded_points",
    "recorded_roofs",
    "roofline",
    "schedule_diagram",
    "sector_diagram",
    "tile_diagram",
    "walk",
]

METRICS = {
    "tflops": "TFLOP/s",
    "ratio": "speed, cuBLAS = 1",
    "flop_per_clk_sm": "FLOP per clock and SM",
}


def ladder_chart(
    source: BenchResult | Measurements | None = None,
    size: int = 4096,
    until: str | None = None,
    highlight: str | None = None,
    precision: str = "",
    gpu: str | None = None,
) -> Figure:
    """TFLOP/s of every step, and cuBLAS as a line.

    source: what `bench` gave, or a recorded file (None: that of `gpu`, or the newest). size: M = N
    = K. until: the last step. highlight: one to set off. precision: types of A, B and C; if not
    given, those of `until`, else of `source`, else fp32. Without a source, a family that continues
    another one follows it, and the bars are shares of cuBLAS, each in its own run. Raises
    MeasurementError if a needed row is missing, ArgumentError for a source and a `gpu`.
    """
    precision = precision or (registry.get(until).precisions[0] if until is not None else "")
    _one_source(source, gpu)
    runs = None if source is not None else _recorded_ladder(until, precision or "fp32", gpu)
    found = _result(source) if runs is None else _of_ladder(runs)
    precision = precision or found.rows[0].precision
    result = found.only(mode="interleaved", precision=precision).at(size)
    rows = _steps_until(result, until, size)
    cublas = result.row("cublas", size).tflops
    several = runs if runs and len(runs.runs) > 1 else None
    corner = f"recorded on {several.origin}" if several else _corner(result)
    label = several.label if several else short
    best = max(rows, key=lambda row: row.tflops)
    alt = (
        f"Bar chart of TFLOP/s at M = N = K = {size}: "
        + ", ".join(f"{label(row.kernel)} {show_rate(row.tflops)}" for row in rows)
        + f"; cuBLAS {show_rate(cublas)}. Best step: {show_share(best.ratio)} of cuBLAS. {corner}."
    )
    strong = highlight and registry.get(highlight).name
    bars = [_bar(row, label(row.kernel), row.kernel == strong, bool(several)) for row in rows]
    line = (1.0 if several else cublas, f"cuBLAS {show_rate(cublas)}")
    axis = f"TFLOP/s at M = N = K = {size} (share of cuBLAS)"
    if several:
        axis = f"speed at M = N = K = {size}, cuBLAS = 1"
    return Figure(lambda theme: draw_ladder(theme, bars, line, axis), alt, corner)


def _one_source(source: object, gpu: str | None) -> None:
    if source is not None and gpu is not None:
        raise ArgumentError("gpu: a source was given, too, which is of one GPU; leave one out")


def _recorded_ladder(until: str | None, precision: str, gpu: str | None) -> LadderRows:
    family = registry.get(until).family if until else registry.family_of(precision)
    return recorded(family, gpu)


def _of_ladder(found: LadderRows) -> BenchResult:
    last = found.runs[-1].bench()
    return BenchResult(found.rows, "recorded", last.environment, last.conditions)


def _steps_until(result: BenchResult, until: str | None, size: int) -> list[BenchRow]:
    """The rows of steps, to `until` if it is given. Raises MeasurementError if there are none."""
    rows = [row for row in result.rows if row.kernel not in BASELINES]
    if until is not None:
        last = registry.names().index(registry.get(until).name)
        rows = [row for row in rows if row.kernel in registry.names()[: last + 1]]
    if not rows:
        result.row(until or "any step", size)  # raises, naming what there is
    return rows


def _bar(row: BenchRow, name: str, strong: bool, by_share: bool) -> Bar:
    """A step's bar, as long as its TFLOP/s, or as its share of cuBLAS."""
    length = row.ratio or 0.0 if by_share else row.tflops
    return Bar(name, row.tflops, show_share(row.ratio), strong, length)


# What the walk calls the families, and the types of its bars.
_PARTS = {
    "sgemm": "Part I\nfp32",
    "hgemm": "Part II\n16 bits, tensor cores",
    "tma": "Part III\nTMA",
    "wgmma": "Part IV\nWGMMA",
}


def walk(size: int = 4096, gpu: str | None = None) -> Figure:
    """All recorded steps of the course at M = N = K = `size`, as shares of cuBLAS in the same run.

    gpu: whose recordings; None: the newest of each part. A part that was not recorded is left out.
    Raises MeasurementError if none was.
    """
    runs = recorded_runs(gpu)
    parts, words = [], []
    for run in runs:
        rows = recorded_steps(run, size)
        title = _PARTS[run.family]
        parts.append(draw.Part(title, [row.ratio or 0.0 for row in rows]))
        shares = ", ".join(f"{short(row.kernel)} {show_share(row.ratio)}" for row in rows)
        words.append(f"{title.replace(chr(10), ', ')}: {shares}")
    made = measurements.origins(run.environment for run in runs)
    corner = f"M = N = K = {size}, recorded on {made}"
    alt = f"Speed of every step as a share of cuBLAS. {'. '.join(words)}. {corner}."
    return Figure(lambda theme: draw.walk(theme, parts), alt, corner)


def roofline(
    points: Sequence[Point] | None = None,
    *,
    level: str | Sequence[str],
    roofs: Sequence[Roof] | None = None,
    kernels: Sequence[str] | None = None,
    size: int = 4096,
    highlight: str | None = None,
    gpu: str | None = None,
) -> Figure:
    """Kernels under the limits that apply to one level of memory traffic, or several.

    points, roofs: as `recorded_points` and `recorded_roofs` give them, which are taken if not
    given, of the recording of `gpu`, or the newest. level: the traffic that is counted, a key of
    ALL_LEVELS, or several: then each kernel appears once for each, under that level's own roof.
    kernels: names (None: all). size: M = N = K. highlight: one to set off. If a point is above a
    roof, which is impossible for bytes that passed there, the figure says by how much. Raises
    ArgumentError for another level, MeasurementError for what was not recorded.
    """
    several = f"{list(ALL_LEVELS)[-2:]}, or one of {', '.join(ALL_LEVELS)}"
    levels = one_or_several("level", level, str, several)
    _check_levels(levels)
    corner = ""
    if points is None or roofs is None:
        loaded = measurements.load(gpu=gpu)
        corner = f"recorded on {origin(loaded.environment)}"
        points = _recorded(loaded, levels, size, kernels) if points is None else points
        roofs = _roofs(loaded, levels) if roofs is None else roofs
    points, roofs = list(points), list(roofs)
    if not points or not any(roof.unit == "TFLOP/s" for roof in roofs):
        raise ArgumentError("points, roofs: need at least one point and one roof in TFLOP/s")
    for roof in roofs:
        corner += f"; {roof.name}: {roof.derived}, not measured" if roof.derived else ""
    # In a figure of one level every roof that is drawn is meant for every point.
    meant = roofs if len(levels) > 1 else [replace(roof, level="") for roof in roofs]
    above = over(points, meant)
    picture = picture_of(points, roofs, above, levels, highlight, corner)
    alt = in_words(points, roofs, above, picture)
    return Figure(lambda theme: draw_roofline(theme, picture), alt, corner)


def _check_levels(levels: Sequence[str]) -> None:
    for one in levels:
        choice("level", one, ALL_LEVELS, lead="; allowed are ")


def _recorded(
    loaded: Measurements, levels: Sequence[str], size: int, kernels: Sequence[str] | None
) -> list[Point]:
    """The recorded points of some kernels at each level."""
    found = [point for one in levels for point in recorded_points(loaded, one, size)]
    if kernels is None:
        return found
    wanted = [name if name in BASELINES else registry.get(name).name for name in kernels]
    there = {point.name for point in found}
    if missing := [name for name in wanted if name not in there]:
        raise MeasurementError(
            f"kernels: {', '.join(missing)} not recorded ({', '.join(levels)}); "
            f"there is {', '.join(there) or 'nothing'}"
        )
    return [point for name in wanted for point in found if point.name == name]


def _roofs(loaded: Measurements, levels: Sequence[str]) -> list[Roof]:
    found = [roof for one in levels for roof in recorded_roofs(loaded, one, derived=True)]
    return list(dict.fromkeys(found))


def lines(
    source: BenchResult | Measurements | None = None,
    kernels: Sequence[str] | None = None,
    metric: str = "tflops",
    gpu: str | None = None,
) -> Figure:
    """A metric of several kernels over the size M = N = K.

    source, gpu: as for `ladder_chart`. kernels: steps and baselines; None: all. metric: a key of
    METRICS. Raises ArgumentError for another metric, MeasurementError without rows.
    """
    choice("metric", metric, METRICS, lead="; allowed are ")
    _one_source(source, gpu)
    result = _result(source, gpu).only(kernels, mode="interleaved")
    series: dict[str, list[BenchRow]] = {}
    for row in result.rows:
        if row.M == row.N == row.K and getattr(row, metric) is not None:
            series.setdefault(row.kernel, []).append(row)
    if not series:
        result.row((kernels or ["any step"])[0])
    for rows in series.values():
        rows.sort(key=lambda row: row.M)
    corner = _corner(result)
    alt = f"{METRICS[metric]} over M = N = K: " + "; ".join(
        f"{short(name)} " + ", ".join(f"{show_rate(getattr(r, metric))} at {r.size}" for r in rows)
        for name, rows in series.items()
    )
    curves: dict[str, tuple[Sequence[int], Sequence[float]]] = {
        short(name): ([row.M for row in rows], [getattr(row, metric) for row in rows])
        for name, rows in series.items()
    }
    return Figure(
        lambda theme: draw.lines(theme, curves, METRICS[metric]), f"{alt}. {corner}.", corner
    )


def _result(source: BenchResult | Measurements | None, gpu: str | None = None) -> BenchResult:
    if source is None:
        return measurements.load(gpu=gpu).bench()
    return source.bench() if isinstance(source, Measurements) else source


def _corner(result: BenchResult) -> str:
    made = "measured" if result.source == "live" else "recorded"
    return f"{made} on {origin(result.environment)}"
