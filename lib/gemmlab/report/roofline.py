"""How a roofline is drawn: dots below slopes and a flat roof, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..display.figure import SMALL, Theme, canvas, spread
from ..display.numbers import short, show_rate
from ..steps import registry
from .roofs import ALL_LEVELS, SHORT, Over, Point, Roof, over

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

# Of each level: for matplotlib, and for text.
MARKERS = (("o", "●"), ("s", "■"), ("D", "◆"), ("^", "▲"))

MOST_NAMES = 8  # more kernels than that are told apart by their numbers


@dataclass(frozen=True)
class Dot:
    """A kernel at one level; `level` is its place among the levels drawn."""

    name: str
    intensity: float
    tflops: float
    strong: bool
    level: int = 0


@dataclass(frozen=True)
class Slope:
    """A bandwidth in TB/s, and the level it holds for."""

    text: str
    value: float
    level: int = 0


@dataclass(frozen=True)
class Gap:
    """A dot that stands above a roof, and how high that roof is there."""

    dot: Dot
    allowed: float
    text: str


@dataclass(frozen=True)
class Picture:
    """Everything in a roofline; with several levels, dots of one name are joined."""

    dots: Sequence[Dot]
    flat: Sequence[tuple[str, float]]
    slopes: Sequence[Slope]
    gaps: Sequence[Gap]
    axis: str
    corner: str
    levels: int = 1


def draw_roofline(theme: Theme, picture: Picture) -> Figure:
    """The dots under their roofs. With several levels each has a colour and a marker of its own."""
    figure, axes = canvas(4.2 if picture.levels == 1 else 4.6)
    top = max(value for _, value in picture.flat)
    knees = [top / slope.value for slope in picture.slopes]
    x = [dot.intensity for dot in picture.dots] + knees
    y = [dot.tflops for dot in picture.dots] + [gap.allowed for gap in picture.gaps]
    # Left of a gap stands its number, left of several slopes the name of the first.
    x0 = min(x) / (8 if picture.gaps else 3 if picture.levels == 1 else 6)
    x0 = min([x0, *(knee / 8 for knee in knees)])  # long enough a slope for its name
    x1 = x0 * max(8 * max(x) / x0, (max(x) / x0) ** 1.4)  # right of the last dot stands a name
    y0, y1 = min(y) / 2.5, top * 2.2
    axes.set(xscale="log", yscale="log", xlim=(x0, x1), ylim=(y0, y1))
    for name, value in picture.flat:
        start = min((value / slope.value for slope in picture.slopes), default=x0)
        axes.plot([start, x1], [value, value], color=theme.text, linewidth=1.2)
        said = f"{name} {show_rate(value)} TFLOP/s"
        axes.text(x1 / 1.05, value * 1.06, said, ha="right", va="bottom", fontsize=SMALL)
    for slope in picture.slopes:
        _draw_slope(axes, theme, slope, picture, (x0, y0, top))
    for one in (axes.xaxis, axes.yaxis):
        one.set_major_formatter(lambda value, _: f"{value:g}")
        one.set_minor_formatter(lambda value, _: "")
    axes.grid(True, which="major")
    axes.set_axisbelow(True)
    axes.set_xlabel(picture.axis)
    axes.set_ylabel("TFLOP/s")
    _draw_gaps(axes, theme, picture.gaps)
    _draw_dots(axes, theme, picture)
    _label_dots(axes, theme, picture, 0.055 * math.log(y1 / y0), math.log(top))
    return figure


def _colour(theme: Theme, level: int, levels: int) -> str:
    return theme.accent if levels == 1 else theme.series[level]


def _draw_slope(
    axes: Axes, theme: Theme, slope: Slope, picture: Picture, edges: tuple[float, float, float]
) -> None:
    """A line y = value * x up to the flat roof, with its name along it."""
    (x0, y0, top), levels = edges, picture.levels
    colour = theme.text if levels == 1 else _colour(theme, slope.level, levels)
    axes.plot([x0, top / slope.value], [x0 * slope.value, top], color=colour, linewidth=1.2)
    low, above = max(x0, y0 / slope.value) * 1.2, 1.2 if levels == 1 else 1.14
    # At the lower end, unless dots or gaps stand there.
    upper = levels > 1 or bool(picture.gaps)
    x = 0.8 * top / slope.value if upper else low
    if levels > 1:
        near = low * 1.15
        axes.plot(
            near,
            near * slope.value,
            MARKERS[slope.level][0],
            color=colour,
            markersize=5,
            markerfacecolor=theme.paper,
        )
    # Neighbours may be close, so the name of the last one stands on its other side.
    below = levels > 1 and slope.level == levels - 1
    above = 1 / above if below else above
    # The text is turned by the direction (1, y / x) where it stands: that of the line, in logs.
    axes.text(
        x,
        above * x * slope.value,
        slope.text,
        fontsize=SMALL,
        color=colour,
        ha="right" if upper else "left",
        va="top" if below else "baseline",
        rotation=math.degrees(math.atan(above * slope.value)),
        rotation_mode="anchor",
        transform_rotates_text=True,
    )


def _draw_dots(axes: Axes, theme: Theme, picture: Picture) -> None:
    for name in dict.fromkeys(dot.name for dot in picture.dots):
        same = [dot for dot in picture.dots if dot.name == name]
        if len(same) > 1:
            ends = [min(d.intensity for d in same), max(d.intensity for d in same)]
            axes.plot(ends, [same[0].tflops] * 2, color=theme.quiet, linewidth=0.7, zorder=1.5)
        for dot in same:
            colour = _colour(theme, dot.level, picture.levels)
            marker = MARKERS[dot.level][0] if picture.levels > 1 else "D" if dot.strong else "o"
            colour = theme.strong if dot.strong and picture.levels == 1 else colour
            axes.plot(dot.intensity, dot.tflops, marker, color=colour)


def _draw_gaps(axes: Axes, theme: Theme, gaps: Sequence[Gap]) -> None:
    """From the roof up to each dot that stands above it, a dotted line that says how far."""
    for gap in gaps:
        x, low, high = gap.dot.intensity, gap.allowed, gap.dot.tflops
        axes.plot([x, x], [low, high], color=theme.strong, linewidth=1.4, linestyle=":")
        axes.plot(x, low, "x", color=theme.strong, markersize=6, markeredgewidth=1.6)
        axes.annotate(
            gap.text,
            (x, math.sqrt(low * high)),
            xytext=(-5, 0),
            ha="right",
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=theme.strong,
            weight="bold",
        )


def _label_dots(axes: Axes, theme: Theme, picture: Picture, gap: float, roof: float) -> None:
    """A name right of each kernel's last dot, `gap` apart (in the logarithm), below the `roof`.

    Where there are many, those that stand together share one label, of their numbers.
    """
    last: dict[str, Dot] = {}
    for dot in picture.dots:
        if dot.name not in last or dot.intensity > last[dot.name].intensity:
            last[dot.name] = dot
    groups = [[dot] for dot in last.values()]
    if len(groups) > MOST_NAMES:
        groups = _together(list(last.values()), 0.7 * gap)
    ends = [max(group, key=lambda dot: dot.intensity) for group in groups]
    wanted = [math.log(dot.tflops) for dot in ends]
    for group, end, want, place in zip(
        groups, ends, wanted, spread(wanted, gap, roof - 0.6 * gap), strict=True
    ):
        numbers = [_number(dot.name) for dot in sorted(group, key=lambda dot: dot.name)]
        near = [d.intensity for d in picture.dots if abs(math.log(d.tflops) - place) < gap]
        # Where a neighbour stands in the name's place it goes to the left, or beyond with a line.
        taken = any(1 < x / end.intensity < 6 for x in near)
        moved = abs(place - want) > 0.5 * gap or (taken and picture.levels > 1)
        left = taken and not moved
        where: dict[str, Any] = {"xytext": (-6 if left else 6, 0), "textcoords": "offset points"}
        if moved:
            line = {"arrowstyle": "-", "color": theme.quiet, "lw": 0.5, "relpos": (0, 0.5)}
            place_of = (max([end.intensity, *near]), math.exp(place))
            where = {"xytext": place_of, "textcoords": _right_of(axes), "arrowprops": line}
        axes.annotate(
            end.name if len(groups) == len(last) <= MOST_NAMES else ", ".join(numbers),
            (end.intensity, end.tflops),
            ha="right" if left else "left",
            va="center",
            fontsize=SMALL,
            color=theme.text,
            weight="bold" if any(dot.strong for dot in group) else "normal",
            **where,
        )


def _right_of(axes: Axes) -> Transform:
    """Data coordinates, some points further to the right."""
    from matplotlib.transforms import ScaledTranslation

    return axes.transData + ScaledTranslation(16 / 72, 0, axes.figure.dpi_scale_trans)


def _number(name: str) -> str:
    """ "08 double buffer" -> "08"; names without a number stay."""
    first = name.split()[0]
    return first if first[:1].isdigit() else name


def _together(dots: list[Dot], near: float) -> list[list[Dot]]:
    """Dots in groups: of each, all are `near` the slowest in speed and within a factor of 3."""
    groups: list[list[Dot]] = []
    for dot in sorted(dots, key=lambda dot: dot.tflops):
        for group in groups:
            speed = math.log(dot.tflops / group[0].tflops)
            aside = abs(math.log(dot.intensity / group[0].intensity))
            if speed < near and aside < math.log(3) and len(group) < 5:
                group.append(dot)
                break
        else:
            groups.append([dot])
    return groups


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
            short(point.name),
            point.intensity,
            point.tflops,
            point.name == strong,
            place.get(point.level, 0),
        )
        for point in points
    }
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
