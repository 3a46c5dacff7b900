"""The book's figures: the ladder of steps, the roofline, and curves over size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import _drawing, measurements, registry
from .errors import ArgumentError
from .figure import Figure
from .measurements import Measurements, origin
from .results import BASELINES, BenchResult, BenchRow, short, show_rate, show_share

# Which traffic an intensity counts. The same kernel stands at three places in three rooflines.
LEVELS = {
    "threads": "FLOP per byte that warps ask for",
    "l2": "FLOP per byte between L1 and L2",
    "dram": "FLOP per byte of DRAM traffic",
}
METRICS = {
    "tflops": "TFLOP/s",
    "ratio": "speed, cuBLAS = 1",
    "flop_per_clk_sm": "FLOP per clock and SM",
}


@dataclass(frozen=True)
class Point:
    """A kernel in a roofline: FLOP per byte, TFLOP/s."""

    name: str
    intensity: float
    tflops: float


@dataclass(frozen=True)
class Roof:
    """A limit: a bandwidth ("TB/s", the slope) or a rate ("TFLOP/s", the flat part)."""

    name: str
    value: float
    unit: str


def ladder(
    source: BenchResult | Measurements | None = None,
    size: int = 4096,
    until: str | None = None,
    highlight: str | None = None,
) -> Figure:
    """TFLOP/s of every step, and cuBLAS as a line.

    `source` is what `bench` gave, or a recorded file (the newest, if not given). `until` stops at a
    step, `highlight` sets one off. Raises MeasurementError if a needed row is missing.
    """
    result = _result(source).only(sizes=[(size, size, size)], mode="interleaved")
    rows = [row for row in result.rows if row.kernel not in BASELINES]
    if until is not None:
        last = registry.names().index(registry.get(until).name)
        rows = [row for row in rows if row.kernel in registry.names()[: last + 1]]
    if not rows:
        result.row(until or "any step", size)  # raises, naming what there is
    cublas = result.row("cublas", size).tflops
    corner = _corner(result)
    best = max(rows, key=lambda row: row.tflops)
    alt = (
        f"Bar chart of TFLOP/s at M = N = K = {size}: "
        + ", ".join(f"{short(row.kernel)} {show_rate(row.tflops)}" for row in rows)
        + f"; cuBLAS {show_rate(cublas)}. Best step: {show_share(best.ratio)} of cuBLAS. {corner}."
    )
    strong = registry.get(highlight).name if highlight else None
    bars = [
        _drawing.Bar(short(row.kernel), row.tflops, show_share(row.ratio), row.kernel == strong)
        for row in rows
    ]
    return Figure(lambda theme: _drawing.ladder(theme, bars, cublas, size, corner), alt)


def roofline(
    points: Sequence[Point] | None = None,
    *,
    level: str,
    roofs: Sequence[Roof] | None = None,
    size: int = 4096,
    highlight: str | None = None,
) -> Figure:
    """Where kernels stand under the limits that apply to one level of memory traffic.

    `level` names the traffic that is counted: "threads", "l2" or "dram". Points and roofs are the
    recorded ones if not given (`recorded_points`, `recorded_roofs`).
    """
    if level not in LEVELS:
        raise ArgumentError(f"level: got {level!r}; allowed are {', '.join(LEVELS)}")
    corner = ""
    if points is None or roofs is None:
        loaded = measurements.load()
        corner = f"recorded on {origin(loaded.environment)}"
        points = recorded_points(loaded, level, size) if points is None else points
        roofs = recorded_roofs(loaded, level) if roofs is None else roofs
    points, roofs = list(points), list(roofs)
    if not points or not any(roof.unit == "TFLOP/s" for roof in roofs):
        raise ArgumentError("points, roofs: need at least one point and one roof in TFLOP/s")
    alt = (
        f"Roofline, {LEVELS[level]}: "
        + ", ".join(
            f"{short(p.name)} {p.intensity:.3g} at {show_rate(p.tflops)} TFLOP/s" for p in points
        )
        + "; limits: "
        + ", ".join(f"{roof.name} {show_rate(roof.value)} {roof.unit}" for roof in roofs)
        + (f". {corner}." if corner else ".")
    )
    strong = registry.get(highlight).name if highlight else None
    dots = [_drawing.Dot(short(p.name), p.intensity, p.tflops, p.name == strong) for p in points]
    flat = [(roof.name, roof.value) for roof in roofs if roof.unit == "TFLOP/s"]
    slopes = [(roof.name, roof.value) for roof in roofs if roof.unit == "TB/s"]
    return Figure(
        lambda theme: _drawing.roofline(theme, dots, flat, slopes, LEVELS[level], corner), alt
    )


def lines(
    source: BenchResult | Measurements | None = None,
    kernels: Sequence[str] | None = None,
    metric: str = "tflops",
) -> Figure:
    """A metric of several kernels over the size: "tflops", "ratio" or "flop_per_clk_sm"."""
    if metric not in METRICS:
        raise ArgumentError(f"metric: got {metric!r}; allowed are {', '.join(METRICS)}")
    result = _result(source).only(kernels, mode="interleaved")
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
    curves = {
        short(name): ([row.M for row in rows], [getattr(row, metric) for row in rows])
        for name, rows in series.items()
    }
    return Figure(
        lambda theme: _drawing.lines(theme, curves, METRICS[metric], corner), f"{alt}. {corner}."
    )


def recorded_points(loaded: Measurements, level: str, size: int = 4096) -> list[Point]:
    """Each recorded kernel's intensity at a level, from ncu's counters, and its rate.

    Raises MeasurementError if the counters were not recorded.
    """
    counted = loaded.section("counters" if level == "threads" else "traffic")
    result = loaded.bench().only(sizes=[(size, size, size)], mode="interleaved", l2="cold")
    points = []
    for name, values in counted["kernels"].items():
        moved = _bytes(values, level, counted["size"], size)
        if moved:
            points.append(Point(name, 2 * size**3 / moved, result.row(name, size).tflops))
    return points


def recorded_roofs(loaded: Measurements, level: str) -> list[Roof]:
    """The measured limits for a level: its read bandwidth, if there is one, and the FFMA rate."""
    probes = loaded.section("probes")
    bandwidth = {
        "threads": [],
        "l2": [Roof("L2 read", probes["l2_read_tbs"], "TB/s")],
        "dram": [Roof("DRAM read", probes["dram_read_tbs"], "TB/s")],
    }
    return [*bandwidth[level], Roof("FFMA", probes["ffma_tflops"], "TFLOP/s")]


def _bytes(values: dict, level: str, counted: int, size: int) -> float | None:
    """Bytes moved at a level for a product of `size`, or None if a counter is missing."""
    grow = size / counted  # loads grow with M * N * K, stores with M * N
    parts = {
        "threads": (("thread_load_bytes", grow**3), ("thread_store_bytes", grow**2)),
        "l2": (("l2_read_sectors", 32), ("l2_write_sectors", 32)),
        "dram": (("dram_read_bytes", 1), ("dram_write_bytes", 1)),
    }[level]
    if level != "threads" and counted != size:
        raise ArgumentError(f"size: traffic was counted at {counted}, not at {size}")
    if any(key not in values for key, _ in parts):
        return None
    return sum(values[key] * factor for key, factor in parts)


def _result(source: BenchResult | Measurements | None) -> BenchResult:
    if source is None:
        return measurements.recorded()
    return source.bench() if isinstance(source, Measurements) else source


def _corner(result: BenchResult) -> str:
    made = "measured" if result.source == "live" else "recorded"
    return f"{made} on {origin(result.environment)}"
