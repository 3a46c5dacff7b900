"""TileTraffic: a tile of C walks along k; what all blocks load falls as the tile grows."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, sequence, text
from ...layouts.traffic.block_tile import BlockTile
from ..shared.asked import asked
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class TileTraffic(Widget):
    """A, B and C of n x n; the block's tiles move along k, and bars say what all blocks load.

    tile: the first one that is shown, of `tiles`, divisors of n. ask: a question that is put before
    the bars are shown, about how many times less the values are that the largest tile loads;
    choices: the numbers to choose from. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "tile_traffic/widget.js"
    _sheets = ("shared/play.css", "tile_traffic/widget.css")

    def __init__(
        self,
        n: int = 64,
        tile: int = 1,
        *,
        tiles: tuple[int, ...] = (1, 2, 4, 8, 16, 32),
        ask: str = "",
        choices: tuple[int, ...] = (2, 16, 32, 1024),
        caption: str = "",
    ) -> None:
        integer("n", n, 1, 256)
        offered = sequence("tiles", tiles, "[1, 2, 4]", empty=False)
        every = [BlockTile(n, one) for one in offered]
        choice("tile", tile, offered)
        falls = every[0].loaded // every[-1].loaded
        super().__init__(
            config={
                "n": n,
                "tiles": offered,
                "ask": asked(ask, choices, falls, "times less"),
                "shown": {"tile": offered[-1], "step": 1},
                "caption": text("caption", caption),
            },
            state={"tile": tile, "step": min(n // tile, max(1, n // tile * 3 // 8)), "guess": None},
        )

    @property
    def block(self) -> BlockTile:
        """The tiling that is shown now."""
        return BlockTile(self.config["n"], self.state["tile"])

    def summary(self) -> str:
        """The tile, what all blocks load with it, and how far the block has come."""
        b, ask = self.block, self.config["ask"]
        start = f"{b.n} x {b.n} in tiles of {b.tile} x {b.tile}. "
        if ask and self.state["guess"] is None:
            return start + ask["question"]
        return f"{start}All blocks load {b.loaded:,} values. {b.describe(int(self.state['step']))}"

    def figure(self) -> Figure:
        """The three matrices with the block's tiles, drawn for 390 pixels."""
        lines = wrap(self.summary(), 60)
        height = 3.5 + 0.15 * len(lines)
        figure = new_figure(3.8, height)
        for n, line in enumerate(lines):
            figure.text(0.02, 1 - (0.08 + 0.15 * n) / height, line, fontsize=8, va="top")
        axes = figure.add_axes((0.02, 0.02, 0.9, 3.4 / height))
        axes.set_xlim(0, 2.1)
        axes.set_ylim(2.1, 0)
        axes.set_aspect("equal")
        axes.axis("off")
        _draw(axes, self.block, int(self.state["step"]))
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 16)


def _draw(axes: Axes, b: BlockTile, step: int) -> None:
    """A, B and C, sides 1, with the block in the middle and its tiles so far along k."""
    from matplotlib.patches import Rectangle

    def box(x: float, y: float, width: float, height: float, face: str, edge: str = "none") -> None:
        axes.add_patch(Rectangle((x, y), width, height, facecolor=face, edgecolor=edge, lw=0.8))

    s, o = b.tile / b.n, 1.08
    at = b.steps // 2 * s
    for name, x, y in (("A", 0.0, o), ("B", o, 0.0), ("C", o, o)):
        box(x, y, 1, 1, "#f5f7f9", "#57606b")
        axes.text(x + 0.03, y + 0.1, name, fontsize=9, weight="bold")
    box(0, o + at, step * s, s, "#f7d9ab")
    box(o + at, 0, s, step * s, "#f7d9ab")
    if step:
        box((step - 1) * s, o + at, s, s, "#e08a1e", "#1c2127")
        box(o + at, (step - 1) * s, s, s, "#e08a1e", "#1c2127")
    box(o + at, o + at, s, s, "#0068a3", "#1c2127")
