"""TmaBox: a box of a matrix, and where the copy engine puts its chunks in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, text
from ...core.errors import ArgumentError
from ...layouts.tma import words
from ...layouts.tma.tensor_map import CHUNK, Arguments, Box, TensorMap
from ..shared.base import Widget, small_png
from .picture import tma_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOX_ROWS = (8, 16, 32)
BOX_COLUMNS = (16, 32, 64, 128)
STARTS = (0, 128, 256, 512)  # bytes past a multiple of 1024
_LARGEST = 256  # rows and columns of a matrix that can be drawn


class TmaBox(Widget):
    """A box on a matrix, moved at will, and beside it the box in shared memory, chunk by chunk.

    rows, columns, row_stride: of the matrix, in elements (row_stride None: the least that is
    allowed). box_rows, box_columns: one of BOX_ROWS and BOX_COLUMNS. dtype: a key of
    tensor_map.DTYPES. swizzle: "none", "32B", "64B" or "128B". x, y: column and row of the box's
    first element, from one box before the matrix on. start: bytes past a multiple of 1024 at which
    the tile begins in shared memory, one of STARTS. chosen: (row, chunk) of the box that is
    explained, or the nearest there is. Values that cuTensorMapEncodeTiled refuses can be shown.
    caption: one question, with `code` and **bold**. Raises ArgumentError, naming the argument.
    """

    _script = "tma_box/widget.js"
    _sheets = ("shared/banks.css", "tma_box/widget.css")

    def __init__(
        self,
        rows: int = 40,
        columns: int = 100,
        *,
        row_stride: int | None = None,
        box_rows: int = 16,
        box_columns: int = 64,
        dtype: str = "bf16",
        swizzle: str = "none",
        x: int = 64,
        y: int = 32,
        start: int = 0,
        chosen: tuple[int, int] = (5, 2),
        caption: str = "",
    ) -> None:
        state = {
            "dtype": dtype,
            "swizzle": swizzle,
            "box_rows": box_rows,
            "box_columns": box_columns,
            "x": x,
            "y": y,
            "start": start,
            "chosen": chosen,
        }
        _check_arguments(rows, columns, row_stride, state, caption)
        state["chosen"] = list(chosen)
        super().__init__(
            config={
                "rows": rows,
                "columns": columns,
                "row_stride": row_stride,
                "box_rows": list(BOX_ROWS),
                "box_columns": list(BOX_COLUMNS),
                "starts": list(STARTS),
                "caption": caption,
            },
            state=state,
        )

    @property
    def arguments(self) -> Arguments:
        """What is asked for now, refused or not."""
        return Arguments(**self._arguments())

    @property
    def box(self) -> Box:
        """The box that is shown now. Raises ArgumentError if its tensor map would be refused."""
        s = self.state
        return TensorMap(**self._arguments()).box(s["x"], s["y"], s["start"])

    def _arguments(self) -> dict:
        names = ("dtype", "swizzle", "box_rows", "box_columns")
        shape = {name: self.config[name] for name in ("rows", "columns", "row_stride")}
        return {**shape, **{name: self.state[name] for name in names}}

    def chosen(self) -> tuple[int, int]:
        """Row and chunk of the box that are explained; the last of a box that became smaller."""
        row, chunk = self.state["chosen"]
        a = self.arguments
        return min(row, a.box_rows - 1), min(chunk, a.row_bytes // CHUNK - 1)

    def readings(self) -> list[str]:
        """The box, the chosen chunk, its reading by ldmatrix, the tile's start; or the refusal."""
        if self.arguments.problems():
            return [words.describe_map(self.arguments)]
        box = self.box
        return [
            words.describe_box(box),
            words.describe_chunk(box, box.chunk(*self.chosen())),
            words.describe_matrix(*box.matrix(*self.chosen())),
            words.describe_start(box.map, box.address, box.misplaced),
        ]

    def summary(self) -> str:
        """The matrix, the box and what becomes of it, in words."""
        a = self.arguments
        swizzle = "no swizzle" if a.swizzle == "none" else f"{a.swizzle} swizzle"
        return (
            f"A matrix of {a.rows} x {a.columns} {a.dtype}, boxes of {a.box_rows} x "
            f"{a.box_columns}, {swizzle}. {' '.join(self.readings())}"
        )

    def figure(self) -> Figure:
        """The matrix with the box, and the first lines of shared memory, for 390 pixels."""
        box = None if self.arguments.problems() else self.box
        return tma_figure(box, self.chosen(), self.summary())

    def png(self) -> bytes:
        """The picture in few colours."""
        return small_png(self.figure)


def _check_arguments(rows, columns, row_stride, state: dict, caption: object) -> None:
    """Refuse what cannot be drawn. Raises ArgumentError."""
    for name, known in (
        ("box_rows", BOX_ROWS),
        ("box_columns", BOX_COLUMNS),
        ("start", STARTS),
    ):
        choice(name, state[name], known)
    box_rows, box_columns = state["box_rows"], state["box_columns"]
    Arguments(rows, columns, box_rows, box_columns, state["dtype"], state["swizzle"], row_stride)
    for name, low, value, high in (
        ("rows", 1, rows, _LARGEST),
        ("columns", 1, columns, _LARGEST),
        ("x", -box_columns, state["x"], columns),
        ("y", -box_rows, state["y"], rows),
    ):
        _between(name, low, value, high)
    _check_chosen(state["chosen"])
    text("caption", caption)


def _between(name: str, low: int, value: object, high: int) -> int:
    return integer(name, value, low, high, allowed=f"allowed are {low} to {high}")


def _check_chosen(chosen: object) -> None:
    if not isinstance(chosen, list | tuple) or len(chosen) != 2:
        raise ArgumentError(f"chosen: got {chosen!r}, expected (row, chunk) of the box")
    for value in chosen:
        _between("chosen", 0, value, _LARGEST)
