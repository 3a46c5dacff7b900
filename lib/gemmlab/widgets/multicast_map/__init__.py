"""MulticastMap: which block of a cluster loads what, and into whose shared memory it goes."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, text
from ...layouts.clusters import SHAPES, Cluster
from ..shared.bank_picture import LINE, TEXT
from ..shared.base import Widget, new_figure, small_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TILES = ((128, 256), (128, 128), (256, 192))
HUES = ("#0068a3", "#b06a00", "#00704f", "#8b4a94")


class MulticastMap(Widget):
    """A cluster's tiles, and the parts of A and B in the color of the block that loads them.

    rows, columns: blocks of the cluster below and beside each other, one of 1x1, 2x1, 1x2, 2x2 and
    4x1. tile: of a block, (128, 256), (128, 128) or (256, 192). multicast: whether they share.
    block: the one that is chosen. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "multicast_map/widget.js"
    _sheets = ("shared/play.css", "multicast_map/widget.css")

    def __init__(
        self,
        rows: int = 2,
        columns: int = 1,
        *,
        tile: tuple[int, int] = (128, 256),
        multicast: bool = False,
        block: int = 0,
        caption: str = "",
    ) -> None:
        choice("tile", tile, TILES)
        cluster = Cluster(rows, columns, *tile, multicast)
        integer("block", block, 0, cluster.blocks - 1)
        super().__init__(
            config={
                "shapes": [list(shape) for shape in SHAPES],
                "tiles": [list(one) for one in TILES],
                "caption": text("caption", caption),
            },
            state={
                "rows": rows, "columns": columns, "BM": tile[0], "BN": tile[1],
                "multicast": multicast, "block": block,
            },
        )  # fmt: skip

    @property
    def cluster(self) -> Cluster:
        """The cluster that is shown now."""
        return Cluster(**{key: value for key, value in self.state.items() if key != "block"})

    def summary(self) -> str:
        """What a k tile costs, and what the chosen block asks for, in words."""
        return f"{self.cluster.describe()} {self.cluster.describe_block(self.state['block'])}"

    def figure(self) -> Figure:
        """The tiles with the parts of A and B beside them, drawn for 390 pixels."""
        from matplotlib.patches import Rectangle

        c, lines = self.cluster, wrap(self.summary(), 60)
        height = 2.3 + LINE * len(lines)
        figure = new_figure(3.8, height)
        for n, line in enumerate(lines):
            figure.text(
                0.02, 1 - (0.08 + LINE * n) / height, line, fontsize=8, va="top", color=TEXT
            )
        axes = figure.add_axes((0.04, 0.02, 0.92, 2.1 / height))
        margin = 90
        axes.set_xlim(-margin, c.columns * c.BN)
        axes.set_ylim(c.rows * c.BM, -margin)
        axes.set_aspect("equal")
        axes.axis("off")
        for block in range(c.blocks):
            row, column = divmod(block, c.columns)
            at = column * c.BN, row * c.BM
            axes.add_patch(Rectangle(at, c.BN, c.BM, facecolor="#eef1f4", edgecolor=TEXT, lw=0.8))
            axes.text(at[0] + c.BN / 2, at[1] + c.BM / 2, f"block {block}", fontsize=7, ha="center")
            a, b = c.loads(block)
            hue = HUES[block]
            for spot in (((-margin, a.first), 60, a.count), ((b.first, -margin), b.count, 60)):
                axes.add_patch(Rectangle(*spot, facecolor=hue, edgecolor="white"))
        return figure

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)
