"""Coalescing: 32 lanes over a matrix in memory, and the sectors that their load fetches."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, text
from ...layouts.traffic.patch import PER_SECTOR, SHAPES, Patch
from ..shared.asked import asked
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, COLUMNS = 32, 48  # of the matrix that is drawn; widget.js draws the same


class Coalescing(Widget):
    """A warp's 32 lanes over a row-major matrix: the sectors that the load touches fill.

    rows: how many rows the lanes are in at first, one of 32, 16, ..., 1; row, column: of lane 0.
    ask: a question that is put before the sectors are shown, about the warp in one row from the
    same column on; choices: the numbers to choose from. turn: offer one button that turns the warp
    instead of all shapes. names: rows of lanes -> a sentence about this shape.
    caption: one question, with `code` and **bold**. Raises ArgumentError, naming the argument.
    """

    _script = "coalescing/widget.js"
    _sheets = ("shared/play.css", "coalescing/widget.css")

    def __init__(
        self,
        rows: int = 32,
        row: int = 0,
        column: int = 3,
        *,
        ask: str = "",
        choices: tuple[int, ...] = (4, 5, 8, 32),
        turn: bool = False,
        names: Mapping[int, str] | None = None,
        caption: str = "",
    ) -> None:
        choice("rows", rows, SHAPES)
        integer("row", row, 0, ROWS - rows)
        integer("column", column, 0, COLUMNS - 32)
        lying = Patch(1, row, column)
        super().__init__(
            config={
                "ask": asked(ask, choices, len(lying.sectors()), "sectors"),
                "shown": {"rows": 1},
                "turn": bool(turn),
                "names": {str(choice("names", key, SHAPES)): text("names", value)
                          for key, value in (names or {}).items()},
                "caption": text("caption", caption),
            },
            state={"rows": rows, "row": row, "column": column, "guess": None},
        )  # fmt: skip

    @property
    def patch(self) -> Patch:
        """The lanes as they are now."""
        return Patch(self.state["rows"], self.state["row"], self.state["column"])

    def summary(self) -> str:
        """The shape, and what it costs unless that is still to be predicted."""
        p = self.patch
        if self.config["ask"] and self.state["guess"] is None:
            return f"{self.config['ask']['question']} (32 lanes in {p.rows} rows of a matrix)"
        return p.describe()

    def figure(self) -> Figure:
        """The matrix with the lanes and, unless they are to be predicted, their sectors."""
        p, lines = self.patch, wrap(self.summary(), 60)
        height = 3.0 + 0.15 * len(lines)
        figure = new_figure(3.8, height)
        for n, line in enumerate(lines):
            figure.text(0.02, 1 - (0.08 + 0.15 * n) / height, line, fontsize=8, va="top")
        axes = figure.add_axes((0.02, 0.02, 0.96, 2.85 / height))
        axes.set_xlim(0, COLUMNS)
        axes.set_ylim(ROWS, 0)
        axes.axis("off")
        for r in range(ROWS):
            for s in range(COLUMNS // PER_SECTOR):
                axes.add_patch(_box(r, s * PER_SECTOR, PER_SECTOR, "#eef1f4"))
        hidden = self.config["ask"] and self.state["guess"] is None
        for r, s in () if hidden else p.sectors():
            axes.add_patch(_box(r, s * PER_SECTOR, PER_SECTOR, "#f2b25c"))
        for lane in range(32):
            axes.add_patch(_box(*p.place(lane), 1, "#0068a3"))
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 16)


def _box(row: float, column: float, width: float, colour: str):
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.08, row + 0.1), width - 0.16, 0.8, facecolor=colour, lw=0)
