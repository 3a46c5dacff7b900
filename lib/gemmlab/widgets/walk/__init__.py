"""Walk: every step of the course as a bar, beside cuBLAS; a bar leads to its chapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.arguments import sequence, text
from ...core.errors import ArgumentError
from ...display.numbers import show_rate, show_share
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class WalkBar:
    """A step: its name, its idea, TFLOP/s, share of cuBLAS, and its chapter, if it has one."""

    label: str
    idea: str
    tflops: float
    share: float
    chapter: str | None = None


@dataclass(frozen=True)
class WalkPart:
    """A part of the course: a title, a few words about it, and its steps in their order."""

    title: str
    words: str
    bars: tuple[WalkBar, ...]


class Walk(Widget):
    """All steps as bars, the parts side by side; the share of cuBLAS is a bar's height.

    parts: in the order of the course. origin: GPU, date, driver and CUDA of the recording. caption:
    the text below the bars until one is pointed at. Raises ArgumentError, naming the argument.
    """

    _script = "walk/widget.js"
    _sheets = ("walk/widget.css",)

    def __init__(self, parts: Sequence[WalkPart], origin: str, *, caption: str = "") -> None:
        given = sequence("parts", parts, "[WalkPart(...)]", empty=False)
        for part in given:
            if not isinstance(part, WalkPart) or not part.bars:
                raise ArgumentError("parts: expected WalkPart with at least one bar in each")
        super().__init__(
            config={
                "parts": [
                    {
                        "title": part.title,
                        "words": part.words,
                        "bars": [_shown(bar) for bar in part.bars],
                    }
                    for part in given
                ],
                "origin": text("origin", origin),
                "caption": text("caption", caption),
            },
            state={},
        )

    def summary(self) -> str:
        """Every bar in words."""
        said = []
        for part in self.config["parts"]:
            bars = ", ".join(f"{bar['label']} {show_share(bar['share'])}" for bar in part["bars"])
            said.append(f"{part['title']}: {bars}")
        return f"Share of cuBLAS. {'. '.join(said)}. {self.config['origin']}."

    def figure(self) -> Figure:
        """The bars of each part in a row of its own, drawn for 390 pixels."""
        parts = self.config["parts"]
        figure = new_figure(3.8, 1.15 * len(parts))
        for row, part in enumerate(parts):
            left, height = 0.02, 0.72 / len(parts)
            axes = figure.add_axes((left, 1 - (row + 0.92) / len(parts), 0.96, height))
            shares = [bar["share"] for bar in part["bars"]]
            axes.bar(range(len(shares)), shares, color="#4f9ccd", width=0.8)
            axes.axhline(1, color="#b34700", ls="--", lw=1)
            axes.set_ylim(0, 1.25)
            axes.axis("off")
            words = (
                f"{part['title']}: {show_share(shares[0])} to {show_share(shares[-1])} of cuBLAS"
            )
            axes.set_title(words, fontsize=8, loc="left", pad=2)
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 16)


def _shown(bar: WalkBar) -> dict:
    """A bar as the widget takes it."""
    return {**vars(bar), "tflops": show_rate(bar.tflops)}
