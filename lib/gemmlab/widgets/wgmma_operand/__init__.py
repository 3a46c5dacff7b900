"""WgmmaOperand: what a descriptor says, and which bytes of shared memory wgmma then reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arguments import integer, text
from ...layouts.wgmma.operand import Descriptor, Operand, Piece
from ...layouts.wgmma.operand_words import describe, describe_piece
from ..shared.base import Widget, small_png
from .picture import operand_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class WgmmaOperand(Widget):
    """An operand's tile in shared memory, and the pieces of 16 bytes that wgmma takes of it.

    mn_major: whether lines of the tile go along rows of A (columns of B), else along k. span: bytes
    of a line, 16 (no swizzle), 32, 64 or 128, as the copy engine has written it. rows: 64, or 128.
    step: which 16 of the 64 values of k, 0 to 3. leading, stride, reads: bytes of the descriptor's
    offsets, and the span of its swizzle, where these are not the right ones. piece: the one that is
    chosen at first. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "wgmma_operand/widget.js"
    _sheets = ("wgmma_operand/widget.css",)

    def __init__(
        self,
        *,
        mn_major: bool = False,
        span: int = 128,
        rows: int = 64,
        step: int = 0,
        leading: int | None = None,
        stride: int | None = None,
        reads: int | None = None,
        piece: int = 2,
        caption: str = "",
    ) -> None:
        tile = Operand(mn_major, span, rows)
        right = tile.descriptor(step)
        given = Descriptor(
            right.start,
            right.leading if leading is None else leading,
            right.stride if stride is None else stride,
            span if reads is None else reads,
        )
        integer("piece", piece, 0, len(tile.pieces(given, step)) - 1)
        super().__init__(
            config={"caption": text("caption", caption)},
            state={
                "mnMajor": mn_major, "span": span, "rows": rows, "step": step,
                "start": given.start, "leading": given.leading, "stride": given.stride,
                "reads": given.span, "piece": piece,
            },
        )  # fmt: skip

    @property
    def operand(self) -> Operand:
        """The tile that is shown now."""
        state = self.state
        return Operand(state["mnMajor"], state["span"], state["rows"])

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor that is shown now."""
        state = self.state
        return Descriptor(state["start"], state["leading"], state["stride"], state["reads"])

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What wgmma gets, piece by piece."""
        return self.operand.pieces(self.descriptor, self.state["step"])

    def summary(self) -> str:
        """The descriptor, what it brings, and the chosen piece, in words."""
        major = "MN-major" if self.state["mnMajor"] else "K-major"
        pieces = self.pieces
        chosen = describe_piece(self.operand, pieces[self.state["piece"]])
        return f"{major}, descriptor 0x{self.descriptor.bits:016x}. {describe(pieces)} {chosen}"

    def figure(self) -> Figure:
        """The tile in shared memory, drawn for 390 pixels."""
        return operand_figure(self.operand, self.pieces, self.summary())

    def png(self) -> bytes:
        """The picture as a small PNG."""
        return small_png(self.figure)
