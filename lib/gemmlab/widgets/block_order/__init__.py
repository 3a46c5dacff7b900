"""BlockOrder: which tiles of C run together, and which panels of A and B they need."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...core.arguments import brief, choice, integer, one_or_several, sequence, text
from ...core.errors import ArgumentError
from ...layouts.tiling.block_order import ORDERS
from ...layouts.tiling.block_order import BlockOrder as Order
from ..shared.bank_picture import LINE, TEXT
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NOW, _BAD = "#0068a3", "#b34700"
_TINTS = ("#bfdcec", "#f9e7bf", "#bfe7dc", "#f2dee9")  # of block_order.js, 26 % on white
_WIDTH = 3.8


class BlockOrder(Widget):
    """The tiles of C as a grid, the waves in which an order takes them, and what a wave needs.

    grids: (rows, columns) of tiles to choose from; the first is shown. order: "rows", "strips" or
    "articles" (`layouts.block_order.BlockOrder`); orders: which of them can be chosen. height: of a
    strip. slots: blocks that run at a time, one number or several to choose from. wave: the one
    that is shown first, from 0. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "block_order/widget.js"
    _sheets = ("block_order/widget.css",)

    def __init__(
        self,
        grids: Sequence[tuple[int, int]] = ((32, 32),),
        order: str = "rows",
        *,
        orders: Sequence[str] = tuple(ORDERS),
        height: int = 8,
        slots: int | Sequence[int] = 264,
        wave: int = 0,
        caption: str = "",
    ) -> None:
        several = one_or_several("slots", slots, int, "[132, 264]")
        orders, grids = sequence("orders", orders, "['rows']", empty=False), _pairs(grids)
        integer("wave", wave, 0)
        for one in orders:
            choice("orders", one, ORDERS)
        choice("order", order, orders)
        text("caption", caption)
        # Each combination that can be chosen is a possible one, or this raises.
        every = [Order(*grid, order, height, count) for grid in grids for count in several]
        every[0].wave(wave)
        rows, columns = grids[0]
        super().__init__(
            config={
                "grids": [list(grid) for grid in grids],
                "orders": [[one, ORDERS[one]] for one in orders],
                "slots": several,
                "caption": caption,
            },
            state={
                "rows": rows,
                "columns": columns,
                "order": order,
                "height": height,
                "slots": several[0],
                "wave": wave,
            },
        )

    @property
    def shown(self) -> Order:
        """The order that is shown now."""
        return Order(**{name: value for name, value in self.state.items() if name != "wave"})

    def summary(self) -> str:
        """The order, the chosen wave and what it needs, in words."""
        o = self.shown
        name = ORDERS[o.order] + (f", height {o.height}" if o.order != "rows" else "")
        return f"{o.rows} x {o.columns} tiles, {name}. {o.describe(self.state['wave'])}"

    def figure(self) -> Figure:
        """The grid with the chosen wave, drawn for 390 pixels."""
        o = self.shown
        lines = wrap(self.summary(), 60)
        side = min(3.2, 3.4 * (o.rows + 2) / (_reach(o) + 2))
        height = side + 0.2 + LINE * len(lines)
        figure = new_figure(_WIDTH, height)
        style: dict[str, Any] = {"va": "top", "color": TEXT, "parse_math": False, "fontsize": 8}
        for n, line in enumerate(lines):
            figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, **style)
        _draw(figure.add_axes((0.02, 0.01, 0.96, side / height)), o, self.state["wave"])
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 24)


def _pairs(grids: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    example = "[(32, 32)], of (rows, columns)"
    given = sequence("grids", grids, example, empty=False)
    pairs = [tuple(sequence("grids", grid, example)) for grid in given]
    if any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(f"grids: got {brief(grids)}, expected pairs (rows, columns)")
    return [(rows, columns) for rows, columns in pairs]


def _reach(o: Order) -> int:
    """Columns, with those outside that a block goes to."""
    return max(o.columns, *(o.place(t)[1] + 1 for t in range(o.tiles)))


def _square(row: int, column: int) -> list[tuple[float, float]]:
    """Corners of a tile, a gap from its neighbours."""
    top, left = row + 0.05, column + 0.05
    return [(left, top), (left + 0.9, top), (left + 0.9, top + 0.9), (left, top + 0.9)]


def _draw(axes: Axes, o: Order, index: int) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Rectangle

    def box(row: float, column: float, rows: float, columns: float, **style: Any) -> None:
        axes.add_patch(Rectangle((column, row), columns, rows, **{"lw": 0, **style}))

    bar = max(o.rows, _reach(o)) / 25
    axes.set_xlim(-2 * bar, _reach(o) + bar / 4)
    axes.set_ylim(o.rows + bar / 4, -2 * bar)
    axes.set_aspect("equal")
    axes.axis("off")
    waves = [t // o.slots for t in range(o.tiles)]
    faces = [_NOW if wave == index else _TINTS[wave % len(_TINTS)] for wave in waves]
    squares = [_square(*o.place(t)) for t in range(o.tiles)]
    axes.add_collection(PolyCollection(squares, facecolors=faces, lw=0))  # up to 128x128 of them
    for row, column in o.never_taken():
        box(row, column, 1, 1, facecolor="none", edgecolor=_BAD, hatch="////", lw=0.5)
    for row in o.wave(index).rows:
        box(row + 0.05, -1.4 * bar, 0.9, bar, facecolor=_NOW)
    for column in o.wave(index).columns:
        box(-1.4 * bar, column + 0.05, bar, 0.9, facecolor=_NOW)
    box(0, 0, o.rows, o.columns, facecolor="none", edgecolor=TEXT, lw=1.2)
    middle: dict[str, Any] = {
        "fontsize": 7,
        "color": TEXT,
        "ha": "center",
        "va": "center",
        "weight": "bold",
    }
    axes.text(-0.9 * bar, -0.5 * bar, "A", **middle)
    axes.text(-0.2 * bar, -0.9 * bar, "B", **middle)
