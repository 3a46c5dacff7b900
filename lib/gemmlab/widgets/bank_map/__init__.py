"""BankMap: which banks a warp's access to a tile meets, under any layout of the tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.arguments import instance, sequence, text
from ...core.errors import ArgumentError
from ...layouts import PRESETS, Access, Layout, Request, Swizzle, Tile, describe, for_columns
from ...layouts.shared.access import check_inside
from ...layouts.shared.access import request as cost
from ...sim.trace import Trace
from ..shared.bank_picture import bank_figure
from ..shared.base import Widget
from ..shared.traced_access import traced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HINT = "Point at a lane or a bank, or move over them with the arrow keys."
_COPY = " A copy's wavefronts depend on its sources, too; these are its destinations."
_LIMITS = {"wavefronts": "wavefront", "conflicts": "conflict"}


class BankMap(Widget):
    """A warp's access to a shared-memory tile: banks, wavefronts, and what a layout changes.

    width: bytes a lane, 2, 4, 8 or 16. row_length: elements in a row of the tile; rows: at least
    what the accesses reach. element: bytes of an element (default: min(width, 4)). pattern: a name
    in `layouts.PRESETS` or "row = lane/4; col = lane%4*4" in terms of lane, n (elements in one
    access) and L (row_length). store: a store, not a load (default: if the pattern's name ends in
    "store"). accesses: instead of width, pattern and store, several `layouts.Access` to the same
    tile. layout: how the tile is stored at first: "none", "pad 1", "Swizzle<2,3,6>", a Swizzle or a
    formula for the column such as "col ^ (row/4*8)". pad, swizzle, formula: what the other
    positions of the layout control hold (default: 1, the swizzle for columns of such pieces,
    "col"). goal: {"wavefronts": 1} or {"conflicts": 0}, of all accesses together, makes it an
    exercise: the access is fixed and the widget says when the layout reaches the goal; "layout":
    "swizzle" asks for that kind. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument. A layout that faults is shown as such, not refused.
    """

    _script = "bank_map/widget.js"
    _sheets = ("shared/banks.css", "shared/waves.css", "bank_map/widget.css")

    def __init__(
        self,
        width: int = 4,
        row_length: int = 32,
        rows: int | None = None,
        pattern: str = "column",
        layout: str | Swizzle | Layout = "none",
        *,
        element: int | None = None,
        store: bool | None = None,
        accesses: Sequence[Access] | None = None,
        pad: int = 1,
        swizzle: Swizzle | str | None = None,
        formula: str = "col",
        caption: str = "",
        goal: Mapping[str, object] | None = None,
    ) -> None:
        accesses = _accesses(accesses, pattern, width, store)
        size = min(4, *(access.width for access in accesses)) if element is None else element
        tile = _tile(accesses, rows, row_length, size)
        for access in accesses:
            check_inside(access, tile)
        text("caption", caption)
        held = _held(pad, swizzle, formula, tile, max(access.width for access in accesses))
        super().__init__(
            config={
                "rows": tile.rows,
                "presets": PRESETS,
                "caption": caption,
                "hint": _HINT,
                "goal": _goal(goal),
            },
            state=_state(accesses, tile, {**held, **_first(Layout.parse(layout))}),
        )

    @classmethod
    def of(
        cls,
        trace: Trace,
        line: int | str | None = None,
        *,
        op: str | None = None,
        request: int = 0,
        row_length: int | None = None,
        element: int | None = None,
        **more: Any,
    ) -> BankMap:
        """The request that a line of a traced kernel made, on the tile that it went to.

        trace, line, op, request: as for TraceView; the line's request must be to shared memory.
        row_length: elements in a row, element: bytes of one; both are known if the source declares
        the array with two or more dimensions. more: `layout`, `goal`, `caption` and others of the
        widget. "as is" is how the kernel keeps the tile, its own swizzle or padding included.
        Raises ArgumentError, naming the argument.
        """
        found = traced(trace, line, op, request, row_length, element)
        return cls(
            accesses=[found.access],
            row_length=found.row_length,
            element=found.element,
            rows=found.rows,
            **more,
        )

    @property
    def shown_layout(self) -> Layout:
        """The layout that is shown now (`layout` is ipywidgets' own: the style of the box)."""
        s = self.state
        # What the reader typed may be broken; it counts only while the formula is shown.
        formula = s["formula"] if s["kind"] == "formula" else "col"
        return Layout(s["kind"], s["pad"], Swizzle(*s["swizzle"]), formula)

    @property
    def requests(self) -> tuple[Request, ...]:
        """What each access costs in the layout that is shown now.

        Raises ArgumentError if an access faults in it.
        """
        return tuple(cost(access, tile, self.shown_layout) for access, tile in self._located())

    @property
    def solved(self) -> bool:
        """Whether the goal is reached (False if there is none)."""
        goal = self.config["goal"]
        if not goal or goal.get("layout", self.state["kind"]) != self.state["kind"]:
            return False
        try:
            found = self.requests
        except ArgumentError:
            return False
        return all(
            sum(getattr(r, name) for r in found) <= limit for name, limit in goal["limits"].items()
        )

    def _located(self) -> list[tuple[Access, Tile]]:
        s = self.state
        accesses = [Access(**access) for access in s["accesses"]]
        tile = _tile(accesses, None, s["row_length"], s["element"], at_least=self.config["rows"])
        return [(access, tile) for access in accesses]

    def _shown(self) -> tuple[Request | None, str]:
        """The shown request and its reading; None and what is wrong if the access faults."""
        try:
            access, tile = self._located()[self.state["access"]]
            request = cost(access, tile, self.shown_layout)
        except ArgumentError as error:
            return None, str(error)
        copied = _COPY if access.op == "cp.async" else ""
        return request, describe(request) + copied

    def _title(self) -> str:
        """The shown access and layout in a few words."""
        s = self.state
        access = s["accesses"][s["access"]]
        name = f"{access['name']}: " if access["name"] else ""
        verb = access.get("op") or ("store" if access["store"] else "load")
        each = "row" if "matrix" in verb else "lane"
        layout = {
            "none": "as is",
            "pad": f"rows padded by {s['pad']}",
            "swizzle": "Swizzle<{},{},{}>".format(*s["swizzle"]),
            "formula": f"column {s['formula']}",
        }[s["kind"]]
        return f"{name}{verb}, {access['width']} bytes a {each}, {layout}"

    def _pattern(self) -> str:
        return self.state["accesses"][self.state["access"]]["pattern"]

    def summary(self) -> str:
        """The shown access, layout and count in words."""
        rows = f"rows of {self.state['row_length']} elements of {self.state['element']} bytes"
        return f"{self._title()}; {self._pattern()}; {rows}. {self._shown()[1]}"

    def figure(self) -> Figure:
        """The banks of the shown access, a row per wavefront, drawn for 390 pixels."""
        return bank_figure(self._title(), self._pattern(), *self._shown())


def _accesses(
    given: Sequence[Access] | None, pattern: str, width: int, store: bool | None
) -> list[Access]:
    if given is None:
        is_store = str(pattern).endswith("store") if store is None else bool(store)
        return [Access(pattern, width, is_store)]
    accesses = sequence("accesses", given, "[layouts.Access('row')]", empty=False)
    return [instance("accesses", one, Access, "a layouts.Access") for one in accesses]


def _first(layout: Layout) -> dict:
    """The part of the state that says which layout is shown at first."""
    value = {"pad": layout.pad, "swizzle": _bits(layout.swizzle), "formula": layout.formula}
    return {"kind": layout.kind} | {k: v for k, v in value.items() if k == layout.kind}


def _tile(
    accesses: Sequence[Access], rows: int | None, row_length: int, element: int, at_least: int = 1
) -> Tile:
    """The tile, high enough for every access unless `rows` says how high."""
    Tile(1, row_length, element)  # refuses a bad row_length or element first
    if any(access.width < element for access in accesses):
        raise ArgumentError(f"element: got {element} bytes, more than an access is wide")
    reach = [row for access in accesses for row, _ in access.elements(row_length, element)]
    needed = max(max(reach) + 1, at_least, 1)
    if rows is not None and isinstance(rows, int) and rows < needed:
        raise ArgumentError(f"rows: got {rows}, but the access reaches row {needed - 1}")
    return Tile(needed if rows is None else rows, row_length, element)


def _state(accesses: Sequence[Access], tile: Tile, layout: dict) -> dict:
    """What the reader may change, as plain data for the browser."""
    return {
        "access": 0,
        **layout,
        "row_length": tile.row_length,
        "element": tile.element,
        "accesses": [
            {"pattern": a.text, "width": a.width, "store": a.store, "name": a.name}
            | ({"op": a.op} if a.op else {})
            for a in accesses
        ],
    }


def _held(
    pad: int, swizzle: Swizzle | str | None, formula: str, tile: Tile, widest: int
) -> dict[str, object]:
    """What the positions of the layout control hold."""
    if swizzle is not None:
        swizzle = Layout.parse(swizzle).swizzle if "<" in str(swizzle) else None
        if swizzle is None:
            raise ArgumentError("swizzle: expected Swizzle(B, M, S) or 'Swizzle<B,M,S>'")
    else:
        try:
            swizzle = for_columns(tile.row_length, tile.element, max(4, widest))
        except ArgumentError:  # no such swizzle for these rows: one that changes nothing
            swizzle = Swizzle(0, 0, 0)
    return {
        "pad": Layout("pad", pad=pad).pad,
        "swizzle": _bits(swizzle),
        "formula": Layout("formula", formula=formula).formula,
    }


def _bits(swizzle: Swizzle) -> list[int]:
    if swizzle.S < 0:
        raise ArgumentError(f"swizzle: got {swizzle}, the widget shows only S >= 0")
    return [swizzle.B, swizzle.M, swizzle.S]


def _goal(goal: Mapping[str, object] | None) -> dict | None:
    """The goal as limits and a sentence."""
    if goal is None:
        return None
    kinds = ("pad", "swizzle", "formula")
    table: dict[str, Any] = dict(goal) if isinstance(goal, Mapping) else {}
    limits = {name: table[name] for name in _LIMITS if name in table}
    if (
        not limits
        or set(table) - {*_LIMITS, "layout"}
        or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in limits.values())
        or table.get("layout", kinds[0]) not in kinds
    ):
        raise ArgumentError(
            f'goal: got {goal!r}, expected {{"wavefronts": 1}} or {{"conflicts": 0}}, '
            f'optionally with "layout" one of {", ".join(kinds)}'
        )
    wanted = " and ".join(
        f"{count or 'no'} {_LIMITS[name]}{'' if count == 1 else 's'}"
        for name, count in limits.items()
    )
    by = {"pad": "padding", "swizzle": "a swizzle", "formula": "a formula"}.get(
        table.get("layout", "")
    )
    text = f"{wanted}{f', by {by}' if by else ''}."
    return {"limits": limits, "text": text, **({"layout": table["layout"]} if by else {})}
