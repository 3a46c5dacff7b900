"""Points and roofs of a roofline, each with the level of memory traffic it belongs to.

A point's intensity counts bytes at one level, and only that level's bandwidth can limit it: below
another level's roof it means nothing. `over` finds points that stand above a roof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.arguments import choice
from ..core.errors import ArgumentError
from ..display.numbers import short, show_rate
from ..layouts.shared.banks import BANK_BYTES, BANKS
from ..measurements.store import Measurements

# Which traffic an intensity counts. The same kernel stands at three places in three rooflines.
LEVELS = {
    "threads": "FLOP per byte that warps ask for",
    "l2": "FLOP per byte between L1 and L2",
    "dram": "FLOP per byte of DRAM traffic",
}
# And what never leaves the SM: wavefronts of loads and stores, 128 bytes each.
ALL_LEVELS = {**LEVELS, "shared": "FLOP per byte of shared-memory wavefronts"}
SHORT = {"threads": "asked for", "l2": "L1 to L2", "dram": "DRAM", "shared": "shared memory"}

WAVEFRONT_BYTES = BANKS * BANK_BYTES


@dataclass(frozen=True)
class Point:
    """A kernel in a roofline.

    name: as it is shown. intensity: FLOP per byte of a level's traffic. tflops: TFLOP/s. level: a
    key of ALL_LEVELS, "" if there is only one.
    """

    name: str
    intensity: float
    tflops: float
    level: str = ""


@dataclass(frozen=True)
class Roof:
    """A limit: a bandwidth, which is a slope in the figure, or a rate, which is flat.

    name: as it is shown. value: in unit, "TB/s" or "TFLOP/s". level: the one that it holds for, ""
    for all. derived: how the value was computed, if it was not measured.
    """

    name: str
    value: float
    unit: str
    level: str = ""
    derived: str = ""

    def allows(self, intensity: float) -> float:
        """TFLOP/s at an intensity."""
        return self.value * intensity if self.unit == "TB/s" else self.value


@dataclass(frozen=True)
class Over:
    """A point above a roof: the traffic that its intensity counts did not all pass there."""

    point: Point
    roof: Roof

    @property
    def allowed(self) -> float:
        """TFLOP/s that the roof allows at the point's intensity."""
        return self.roof.allows(self.point.intensity)

    @property
    def times(self) -> float:
        """How many times above it the point is."""
        return self.point.tflops / self.allowed

    def __str__(self) -> str:
        return (
            f"{short(self.point.name)} runs at {show_rate(self.point.tflops)} TFLOP/s, "
            f"{show_rate(self.times)} times the {show_rate(self.allowed)} that the {self.roof.name}"
            f" roof allows at {self.point.intensity:.3g} FLOP per byte"
        )


def over(points: Iterable[Point], roofs: Sequence[Roof]) -> list[Over]:
    """Every point above a roof.

    A measured point cannot be above the roof of the level at which its bytes were counted. One
    that does was counted elsewhere: caches, or the lanes of a warp, served the same bytes again.

    points: as `recorded_points` gives them. roofs: those that name a level hold for its points
    only.
    """
    return [
        Over(point, roof)
        for point in points
        for roof in roofs
        if roof.level in ("", point.level) and point.tflops > roof.allows(point.intensity)
    ]


def recorded_points(loaded: Measurements, level: str, size: int = 4096) -> list[Point]:
    """Each recorded kernel's intensity at a level, from ncu's counters, and its rate.

    loaded: a recorded file. level: a key of ALL_LEVELS. size: M = N = K.
    Raises ArgumentError for another level, MeasurementError if the counters were not recorded.
    """
    choice("level", level, ALL_LEVELS)
    counted = loaded.section("counters" if level in ("threads", "shared") else "traffic")
    result = loaded.bench().only(mode="interleaved", l2="cold").at(size)
    points = []
    for name, values in counted["kernels"].items():
        moved = _bytes(values, level, counted["size"], size)
        if moved:
            points.append(Point(name, 2 * size**3 / moved, result.row(name, size).tflops, level))
    return points


def recorded_roofs(loaded: Measurements, level: str, derived: bool = False) -> list[Roof]:
    """The measured limits for a level: its read bandwidth, if there is one, and the FFMA rate.

    loaded: a recorded file. level: a key of ALL_LEVELS. derived: where L1 or shared memory were not
    measured, add what 128 bytes a clock and SM come to.
    """
    probes = loaded.section("probes")
    name, key = {
        "threads": ("L1 read", "l1_read_tbs"),
        "shared": ("shared memory read", "shared_read_tbs"),
        "l2": ("L2 read", "l2_read_tbs"),
        "dram": ("DRAM read", "dram_read_tbs"),
    }[level]
    roofs = []
    if key in probes or level in ("l2", "dram"):
        roofs = [Roof(name, probes[key], "TB/s", level)]
    elif derived:
        mhz, sms = probes["ffma_clock_mhz"], probes["environment"]["sms"]
        how = f"{WAVEFRONT_BYTES} bytes per clock and SM, {sms} SMs at {mhz:.0f} MHz"
        value = WAVEFRONT_BYTES * sms * mhz / 1e6
        roofs = [Roof(name.removesuffix(" read"), value, "TB/s", level, how)]
    return [*roofs, Roof("FFMA", probes["ffma_tflops"], "TFLOP/s")]


def _bytes(values: dict, level: str, counted: int, size: int) -> float | None:
    """Bytes moved at a level for a product of `size`, or None if a counter is missing."""
    grow = size / counted  # loads grow with M * N * K, stores of C with M * N
    wavefront = WAVEFRONT_BYTES * grow**3
    values = {"thread_copy_bytes": 0, **values}  # by cp.async; older recordings have none
    loads = [(key, grow**3) for key in ("thread_load_bytes", "thread_copy_bytes")]
    parts = {
        "threads": (*loads, ("thread_store_bytes", grow**2)),
        "shared": (("shared_load_wavefronts", wavefront), ("shared_store_wavefronts", wavefront)),
        "l2": (("l2_read_sectors", 32), ("l2_write_sectors", 32)),
        "dram": (("dram_read_bytes", 1), ("dram_write_bytes", 1)),
    }[level]
    if level in ("l2", "dram") and counted != size:
        raise ArgumentError(f"size: traffic was counted at {counted}, not at {size}")
    if any(key not in values for key, _ in parts):
        return None
    if level == "threads" and not any(values[key] for key, _ in loads):
        return None  # what it reads is not counted: TMA asks for it, not a thread
    return sum(values[key] * factor for key, factor in parts)
