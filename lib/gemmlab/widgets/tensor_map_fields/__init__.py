"""TensorMapFields: the arguments of cuTensorMapEncodeTiled, each with its value and its rule."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...core.arguments import choice, text
from ...layouts.tma import words
from ...layouts.tma.tensor_map import Arguments
from ..shared.bank_picture import LINE, MUTED, TEXT
from ..shared.base import Widget, new_figure, png_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Where the matrix begins, in bytes (None: at any address that fits, as that of an allocation does).
ADDRESSES = {
    "the start of an allocation": None,
    "2 bytes past it": 0x7F0000000002,
    "16 bytes past it": 0x7F0000000010,
}
_WIDTH, _ROW = 3.8, 0.21


class TensorMapFields(Widget):
    """Choose a matrix, a box and a swizzle, and read what cuTensorMapEncodeTiled is given.

    Each field opens to its unit, its rule and what a wrong value does. rows, columns, row_stride,
    box_rows, box_columns, dtype, swizzle, address: as in `layouts.Arguments`; values
    that would be refused can be shown as well. row_stride None: the least allowed. shown: the
    field that is open at first (default: "globalStrides" of a map that is taken, of one that is
    refused none, as its field says why). caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "tensor_map_fields/widget.js"
    _sheets = ("tensor_map_fields/widget.css",)

    def __init__(
        self,
        rows: int = 4096,
        columns: int = 4096,
        *,
        row_stride: int | None = None,
        box_rows: int = 128,
        box_columns: int = 64,
        dtype: str = "bf16",
        swizzle: str = "128B",
        address: int | None = None,
        shown: str | None = None,
        caption: str = "",
    ) -> None:
        asked = Arguments(rows, columns, box_rows, box_columns, dtype, swizzle, row_stride, address)
        if shown is not None:
            choice("shown", shown, words.FIELDS)
        text("caption", caption)
        addresses = [[name, value] for name, value in ADDRESSES.items()]
        if address is not None and address not in ADDRESSES.values():
            addresses.append([hex(address), address])
        super().__init__(
            config={
                "fields": [[name, *said[:4], list(said[4])] for name, said in words.FIELDS.items()],
                "addresses": addresses,
                "caption": caption,
            },
            state={
                "rows": rows,
                "columns": columns,
                "row_stride": row_stride,
                "box_rows": box_rows,
                "box_columns": box_columns,
                "dtype": dtype,
                "swizzle": swizzle,
                "address": address,
                "shown": _shown(asked) if shown is None else shown,
            },
        )

    @property
    def arguments(self) -> Arguments:
        """What is asked for now, refused or not."""
        return Arguments(**{n: value for n, value in self.state.items() if n != "shown"})

    def summary(self) -> str:
        """Whether the map is taken, and what of it needs mending, in words."""
        a = self.arguments
        return f"A matrix of {a.rows} x {a.columns} {a.dtype}. {words.describe_map(a)}"

    def figure(self) -> Figure:
        """All fields with their values, drawn for 390 pixels."""
        lines = wrap(self.summary(), 60)
        fields = words.decode(self.arguments)
        top = 0.08 + LINE * len(lines) + 0.08
        height = top + _ROW * len(fields) + 0.05
        figure = new_figure(_WIDTH, height)
        style: dict[str, Any] = {"va": "top", "parse_math": False}
        for n, line in enumerate(lines):
            figure.text(0.02, 1 - (0.08 + LINE * n) / height, line, color=TEXT, fontsize=8, **style)
        for n, one in enumerate(fields):
            y = 1 - (top + _ROW * n) / height
            sign = "✗ " if one.problem else ""
            look: dict[str, Any] = {
                "color": "#b34700" if one.problem else TEXT,
                "fontsize": 7,
                **style,
            }
            figure.text(0.02, y, one.name, color=MUTED, fontsize=7, **style)
            figure.text(0.31, y, sign + one.value.removeprefix("CU_TENSOR_MAP_"), **look)
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 24)


def _shown(asked: Arguments) -> str:
    """The field that is open at first: none of a map that is refused, as its field says why."""
    return "" if asked.problems() else "globalStrides"
