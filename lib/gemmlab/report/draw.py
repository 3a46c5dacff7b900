"""How `plots` draws with matplotlib: plain numbers and a theme in, a figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..display.figure import SMALL, Theme, canvas, is_narrow, spread
from ..display.numbers import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLOURS = 5  # lines that a reader can tell apart at a glance


@dataclass(frozen=True)
class Part:
    """A part of the walk: its title, and of each step the share of cuBLAS, 1 for its speed."""

    title: str
    shares: Sequence[float]


def walk(theme: Theme, parts: Sequence[Part]) -> Figure:
    """A column a step, the parts side by side; cuBLAS, each part's own, as a dashed line."""
    figure, axes = canvas(3.4)
    start, gap = 0, 3
    top = max(1.0, *(share for part in parts for share in part.shares))
    for part in parts:
        first, last = start, start + len(part.shares) - 1
        colours = [theme.accent] * (last - first) + [theme.strong]
        axes.bar(range(first, last + 1), part.shares, width=0.72, color=colours)
        text: dict[str, Any] = {"fontsize": SMALL, "textcoords": "offset points"}
        axes.annotate(
            show_share(part.shares[0]),
            (first, 0),
            xytext=(-5, 2),
            rotation=90,
            ha="center",
            va="bottom",
            **text,
        )
        axes.annotate(
            show_share(part.shares[-1]),
            (last + 0.4, part.shares[-1]),
            xytext=(0, 2),
            ha="right",
            va="bottom",
            weight="bold",
            **text,
        )
        middle = (first + last) / 2
        axes.text(middle, -0.03 * top, part.title, ha="center", va="top", fontsize=SMALL)
        start = last + 1 + gap
    axes.axhline(1, color=theme.text, linewidth=1, linestyle=(0, (4, 2)))
    axes.text(-gap + 1, 1.01, "cuBLAS", ha="left", va="bottom")
    axes.set_xticks([])
    axes.set_xlim(-gap + 0.5, start - gap)
    axes.set_ylim(0, 1.12 * top)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("share of cuBLAS")
    return figure


def lines(
    theme: Theme,
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]],
    axis: str,
) -> Figure:
    """Curves over the size, each named at its right end; cuBLAS dashed.

    The fastest MOST_COLOURS at the largest size have colours, the others are grey.
    """
    figure, axes = canvas(3.8)
    sizes = sorted({size for xs, _ in curves.values() for size in xs})
    markers = "osD^vP"
    ends = [ys[-1] for _, ys in curves.values()]
    top = max(max(ys) for _, ys in curves.values())
    places = spread(ends, 0.065 * top)
    steps = [name for name in curves if not name.lower().startswith("cublas")]
    fastest = sorted(steps, key=lambda name: curves[name][1][-1])[-MOST_COLOURS:]
    coloured = dict(zip((n for n in steps if n in fastest), theme.series, strict=False))
    for (name, (xs, ys)), place in zip(curves.items(), places, strict=True):
        baseline = name not in steps
        colour = theme.text if baseline else coloured.get(name, theme.quiet)
        marker = "" if baseline else markers[steps.index(name) % len(markers)]
        axes.plot(xs, ys, color=colour, marker=marker, linestyle="--" if baseline else "-")
        axes.annotate(
            name,
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
            fontsize=SMALL,
        )
    _sizes_below(axes, sizes)
    axes.set_ylim(0, 1.08 * max(top, *places))
    axes.grid(True, axis="y")
    axes.set_ylabel(axis)
    return figure


def _sizes_below(axes: Axes, sizes: Sequence[int]) -> None:
    """The sizes along a logarithmic axis; on a phone there may be room for powers of two only."""
    axes.set_xscale("log", base=2)
    crowded = len(sizes) > 4 and is_narrow()
    axes.set_xticks(sizes, ["" if crowded and size & (size - 1) else str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("M = N = K")
