"""WarpgroupSums: which of 128 threads has which sum of one wgmma."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from ...core.arguments import choice, text
from ...layouts.wgmma.sums import ROWS, Sums
from ..shared.bank_picture import LINE, MUTED, TEXT
from ..shared.base import Widget, new_figure, small_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = (64, 128, 192, 256)


class WarpgroupSums(Widget):
    """The 64 x `columns` sums of a wgmma, the chosen thread's set off, and an 8x8 matrix of them.

    columns: N of the instruction, 64, 128, 192 or 256. row, column: the sum that is chosen at
    first. caption: one question, with `code` and **bold**. Raises ArgumentError, naming the
    argument.
    """

    _script = "warpgroup_sums/widget.js"
    _sheets = ("shared/play.css", "warpgroup_sums/widget.css")

    def __init__(
        self, columns: int = 128, *, row: int = 17, column: int = 2, caption: str = ""
    ) -> None:
        choice("columns", columns, WIDTHS)
        Sums(columns).holder(row, column)
        super().__init__(
            config={"caption": text("caption", caption), "widths": list(WIDTHS)},
            state={"columns": columns, "row": row, "column": column},
        )

    @property
    def sums(self) -> Sums:
        """The layout that is shown now."""
        return Sums(self.state["columns"])

    def summary(self) -> str:
        """The chosen sum and its thread, in words."""
        s, row, column = self.sums, self.state["row"], self.state["column"]
        thread, _ = s.holder(row, column)
        return f"{s.describe(row, column)} {s.describe_thread(thread)}"

    def figure(self) -> Figure:
        """All sums, the chosen thread's set off, drawn for 390 pixels."""
        from matplotlib.patches import Rectangle

        s, lines = self.sums, wrap(self.summary(), 60)
        height = 2.1 + LINE * len(lines)
        figure = new_figure(3.8, height)
        for n, line in enumerate(lines):
            figure.text(
                0.02, 1 - (0.08 + LINE * n) / height, line, fontsize=8, va="top", color=TEXT
            )
        axes = figure.add_axes((0.1, 0.02, 0.88, 1.9 / height))
        axes.set_xlim(0, s.columns)
        axes.set_ylim(ROWS, 0)
        axes.axis("off")
        for warp in range(4):
            face = "#eef1f4" if warp % 2 else "#dcebf5"
            axes.add_patch(Rectangle((0, 16 * warp), s.columns, 16, facecolor=face))
            axes.text(-1, 16 * warp + 8, f"warp {warp}", fontsize=6.5, ha="right", color=MUTED)
        thread, _ = s.holder(self.state["row"], self.state["column"])
        for register in range(0, s.registers, 2):
            row, column = s.element(thread, register)
            axes.add_patch(Rectangle((column, row), 2, 1, facecolor="#0068a3"))
        return figure

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)
