"""FragmentMap: which lane holds which element of a tensor-core fragment, in which register."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, one_of_many, one_or_several, text
from ...core.errors import ArgumentError
from ...layouts.fragments import FRAGMENTS, WARP, Fragment, fragment
from ..shared.base import Widget, small_png
from .picture import fragment_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("lane", "register", "matrix")


class FragmentMap(Widget):
    """The elements of a fragment, each with its lane and register, and what a lane holds.

    which: a name of `layouts.FRAGMENTS`, or several to choose from; the first is shown at first.
    colour: what the colours stand for, "lane", "register" or "matrix" (of 8x8 elements). lane: the
    one that is chosen at first, 0 to 31, or None. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "fragment_map/widget.js"
    _sheets = ("fragment_map/widget.css",)

    def __init__(
        self,
        which: str | Sequence[str] = "mma.m16n8k16 A",
        *,
        colour: str = "lane",
        lane: int | None = None,
        caption: str = "",
    ) -> None:
        names = one_or_several("which", which, str, "['mma.m16n8k16 A']")
        for name in names:
            one_of_many("which", name, FRAGMENTS, "fragments")
        if len(set(names)) < len(names):
            raise ArgumentError(f"which: got {which!r}; name each fragment once")
        choice("colour", colour, COLOURS)
        if lane is not None:
            integer("lane", lane, 0, WARP - 1, allowed=f"allowed are None and 0 to {WARP - 1}")
        text("caption", caption)
        super().__init__(
            config={"layouts": [plain(fragment(name)) for name in names], "caption": caption},
            state={"which": names[0], "colour": colour, "lane": lane},
        )

    @property
    def shown(self) -> Fragment:
        """The layout that is shown now."""
        return fragment(self.state["which"])

    def summary(self) -> str:
        """The layout and what the chosen lane holds, or where one element is, in words."""
        f, lane = self.shown, self.state["lane"]
        few = f"{f.registers} register{'s' * (f.registers != 1)}"
        text = f"{f.name}: {f.rows} x {f.columns} elements of {f.bits} bits, {few} a lane. "
        return text + (f.describe(1, 2) if lane is None else f.describe_lane(lane))

    def figure(self) -> Figure:
        """The elements, drawn for 390 pixels."""
        return fragment_figure(self.shown, self.state["colour"], self.state["lane"], self.summary())

    def png(self) -> bytes:
        """The picture in few colours."""
        return small_png(self.figure)


def plain(f: Fragment) -> dict:
    """A layout as fragments.js takes it."""
    return {
        "name": f.name,
        "origins": [list(at) for at in f.origins],
        "bits": f.bits,
        "transposed": f.transposed,
        "rows": f.rows,
        "columns": f.columns,
        "registers": f.registers,
        "addressed": f.addressed,
        "wmma": f.wmma,
        "repeats": f.repeats,
    }
