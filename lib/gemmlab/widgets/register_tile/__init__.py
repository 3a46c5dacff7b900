"""RegisterTile: the elements of C in a thread's registers, and what each value read serves."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from ...core.arguments import choice, sequence, text
from ...layouts.traffic.thread_tile import ThreadTile
from ..shared.asked import asked
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RegisterTile(Widget):
    """A thread's m x n elements of C: for one k it reads m + n values and does m n FMAs with them.

    m, n: what is shown at first, of `sizes`. ask: a question that is put before the numbers are
    shown, about how many times as many FMAs each value serves with `larger` x `larger` elements as
    with half of that; choices: the numbers to choose from. caption: one question, with `code` and
    **bold**. Raises ArgumentError, naming the argument.
    """

    _script = "register_tile/widget.js"
    _sheets = ("shared/play.css", "register_tile/widget.css")

    def __init__(
        self,
        m: int = 1,
        n: int = 1,
        *,
        sizes: tuple[int, ...] = (1, 2, 4, 8, 16),
        ask: str = "",
        larger: int = 8,
        choices: tuple[int, ...] = (1, 2, 4, 16),
        caption: str = "",
    ) -> None:
        offered = sequence("sizes", sizes, "[1, 2, 4, 8]", empty=False)
        tile = ThreadTile(choice("m", m, offered), choice("n", n, offered))
        choice("larger", larger, [one for one in offered if one % 2 == 0])
        now, half = ThreadTile(larger, larger), ThreadTile(larger // 2, larger // 2)
        times = now.fmas * half.values // (now.values * half.fmas)
        super().__init__(
            config={
                "sizes": offered,
                "ask": asked(ask, choices, times, "times as many"),
                "shown": {"m": larger, "n": larger},
                "caption": text("caption", caption),
            },
            state={"m": m, "n": n, "count": tile.registers, "guess": None},
        )

    @property
    def tile(self) -> ThreadTile:
        """What is shown now."""
        return ThreadTile(self.state["m"], self.state["n"])

    def summary(self) -> str:
        """What the thread reads, computes and keeps; before a prediction only its question."""
        if self.config["ask"] and self.state["guess"] is None:
            return f"{self.tile.m} x {self.tile.n} elements. {self.config['ask']['question']}"
        return self.tile.describe()

    def figure(self) -> Figure:
        """The values of A and B and the elements of C, drawn for 390 pixels."""
        from matplotlib.patches import Rectangle

        t, lines = self.tile, wrap(self.summary(), 60)
        height = 2.3 + 0.15 * len(lines)
        figure = new_figure(3.8, height)
        for n, line in enumerate(lines):
            figure.text(0.02, 1 - (0.08 + 0.15 * n) / height, line, fontsize=8, va="top")
        axes = figure.add_axes((0.02, 0.02, 0.9, 2.2 / height))
        size = max(t.m, t.n)
        bar = max(0.5, size / 8)
        axes.set_xlim(-bar, size)
        axes.set_ylim(size, -bar)
        axes.set_aspect("equal")
        axes.axis("off")
        side = 0.9
        for i in range(t.m):
            axes.add_patch(Rectangle((-bar, i), 0.8 * bar, side, facecolor="#e08a1e", lw=0))
        for j in range(t.n):
            axes.add_patch(Rectangle((j, -bar), side, 0.8 * bar, facecolor="#e08a1e", lw=0))
        for i, j in map(t.element, range(t.fmas)):
            axes.add_patch(Rectangle((j, i), side, side, facecolor="#0068a3", lw=0))
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 16)
