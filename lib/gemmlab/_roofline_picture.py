"""What the roofline figure draws, from points and roofs, and the figure in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import registry
from ._roofline import MARKERS, Dot, Gap, Picture, Slope
from .results import short, show_rate
from .roofs import ALL_LEVELS, SHORT, Over, Point, Roof, over


def picture_of(
    points: Sequence[Point],
    roofs: Sequence[Roof],
    above: Sequence[Over],
    levels: Sequence[str],
    highlight: str | None,
    corner: str,
) -> Picture:
    """What the figure draws."""
    strong = registry.get(highlight).name if highlight else None
    place = {one: i for i, one in enumerate(levels)}
    dots = {
        point: Dot(
            short(point.name), point.intensity, point.tflops, point.name == strong,
            place.get(point.level, 0),
        )
        for point in points
    }  # fmt: skip
    slopes = [
        Slope(
            f"{roof.name} {show_rate(roof.value)} TB/s" + " (derived)" * bool(roof.derived),
            roof.value,
            place.get(roof.level, 0),
        )
        for roof in roofs
        if roof.unit == "TB/s"
    ]
    gaps = [Gap(dots[one.point], one.allowed, f"{show_rate(one.times)} times") for one in above]
    flat = [(roof.name, roof.value) for roof in roofs if roof.unit == "TFLOP/s"]
    marks = zip(MARKERS, levels, strict=False)
    key = "   ".join(f"{text} {SHORT[one]}" for (_, text), one in marks)
    axis = ALL_LEVELS[levels[0]] if len(levels) == 1 else f"FLOP per byte:  {key}"
    return Picture(list(dots.values()), flat, slopes, gaps, axis, corner, len(levels))


def in_words(
    points: Sequence[Point],
    roofs: Sequence[Roof],
    above: Sequence[Over],
    picture: Picture,
) -> str:
    """The roofline in words."""

    def at(point: Point) -> str:
        name = f" ({SHORT[point.level]})" if picture.levels > 1 else ""
        return (
            f"{short(point.name)}{name} {point.intensity:.3g} at {show_rate(point.tflops)} TFLOP/s"
        )

    limits = ", ".join(
        f"{roof.name} {show_rate(roof.value)} {roof.unit}" + " (derived)" * bool(roof.derived)
        for roof in roofs
    )
    what = picture.axis if picture.levels == 1 else "FLOP per byte at several levels"
    text = f"Roofline, {what}: {', '.join(map(at, points))}; limits: {limits}"
    for one in over(
        points, [replace(r, level="") for r in roofs] if picture.levels == 1 else roofs
    ):
        text += f". Above a roof: {one}; its bytes were not counted there"
    return text + (f". {picture.corner}." if picture.corner else ".")
