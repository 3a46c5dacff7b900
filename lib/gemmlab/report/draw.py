"""How `plots` draws with matplotlib: plain numbers and a theme in, a figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..display.figure import Theme, canvas, spread
from ..display.numbers import show_share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Part:
    """A part of the walk: its title, and of each step the share of cuBLAS, 1 for its speed."""

    title: str
    shares: Sequence[float]


def walk(theme: Theme, parts: Sequence[Part], corner: str) -> Figure:
    """A column a step, the parts side by side; cuBLAS, each part's own, as a dashed line."""
    figure, axes = canvas(2.9)
    start, gap = 0, 3
    top = max(1.0, *(share for part in parts for share in part.shares))
    for part in parts:
        first, last = start, start + len(part.shares) - 1
        colours = [theme.accent] * (last - first) + [theme.strong]
        axes.bar(range(first, last + 1), part.shares, width=0.72, color=colours)
        text: dict[str, Any] = {"fontsize": 7.5, "textcoords": "offset points"}
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
        axes.text(middle, -0.03 * top, part.title, ha="center", va="top", fontsize=8)
        start = last + 1 + gap
    axes.axhline(1, color=theme.text, linewidth=1, linestyle=(0, (4, 2)))
    axes.text(-gap + 1, 1.01, "cuBLAS", ha="left", va="bottom")
    axes.set_xticks([])
    axes.set_xlim(-gap + 0.5, start - gap)
    axes.set_ylim(0, 1.12 * top)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("share of cuBLAS")
    origin_line(figure, theme, corner)
    return figure


def lines(
    theme: Theme,
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]],
    axis: str,
    corner: str,
) -> Figure:
    """Curves over the size, each named at its right end; cuBLAS dashed."""
    figure, axes = canvas(3.2)
    sizes = sorted({size for xs, _ in curves.values() for size in xs})
    markers = "osD^vP"
    ends = [ys[-1] for _, ys in curves.values()]
    top = max(max(ys) for _, ys in curves.values())
    places = spread(ends, 0.065 * top)
    steps = 0
    for (name, (xs, ys)), place in zip(curves.items(), places, strict=True):
        baseline = name.lower().startswith("cublas")
        colour = theme.text if baseline else theme.series[steps % len(theme.series)]
        marker = "" if baseline else markers[steps % len(markers)]
        steps += not baseline
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
            fontsize=8,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_ylim(0, 1.08 * max(top, *places))
    axes.grid(True, axis="y")
    axes.set_xlabel("M = N = K")
    axes.set_ylabel(axis)
    origin_line(figure, theme, corner)
    return figure


def origin_line(figure: Figure, theme: Theme, text: str) -> None:
    """Where the numbers come from, below everything else, in several lines if need be."""
    if not text:
        return
    lines = [text]
    while len(lines[-1]) > 72:
        last = lines.pop()
        cut = max(last.rfind(", ", 0, 72), last.rfind("; ", 0, 72)) + 1
        lines += [last[:cut], last[cut:].strip()] if cut else [last]
        if not cut:
            break
    figure.supxlabel("\n".join(lines), fontsize=7, color=theme.quiet, x=0.01, ha="left")
