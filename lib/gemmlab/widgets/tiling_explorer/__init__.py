"""TilingExplorer: a block tile cut into warps, lanes and elements, and what the cut costs."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from ...core.arguments import choice, integer, text
from ...core.errors import ArgumentError
from ...display.numbers import short
from ...layouts.tiling.facts import describe, facts
from ...layouts.tiling.occupancy import GPUS
from ...layouts.tiling.rules import CHOICES, problems
from ...layouts.tiling.tiling import A_LAYOUTS, LANE_ORDERS, STEPS, Tiling
from ..shared.base import Widget, png_bytes
from .picture import tile_png, tiling_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Presets = Iterable[str] | Mapping[str, "Tiling | str"]
_SIZES = (512, 1024, 2048, 4096, 8192, 16384)


class TilingExplorer(Widget):
    """Sizes to choose, a picture of who owns, reads and copies what, and a table of costs.

    presets: what the reader may start from: names of `layouts.STEPS`, or label -> a Tiling or such
    a name; the first is shown. start: the label or step to open with instead. thread: the one that
    is marked (default: 37). gpu: a name of `layouts.GPUS`; size: M and N of the grid. copies: also
    mark what the thread copies. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "tiling_explorer/widget.js"
    _sheets = ("tiling_explorer/widget.css",)

    def __init__(
        self,
        presets: Presets = ("sgemm_04_register_tiling",),
        start: str | None = None,
        *,
        thread: int | None = None,
        gpu: str = "H200",
        size: int = 4096,
        copies: bool = False,
        caption: str = "",
    ) -> None:
        named = _presets(presets)
        start = next(iter(named)) if start is None else text("start", start)
        start = short(start) if start in STEPS else start
        choice("start", start, named, lead=", the presets are ")
        last = named[start].threads - 1
        thread = min(37, last) if thread is None else thread
        integer("thread", thread, 0, last)
        integer("size", size, 1, 2**20)
        choice("gpu", gpu, GPUS, lead=", there is ")
        text("caption", caption)
        tilings = {label: asdict(tiling) for label, tiling in named.items()}
        state = {**tilings[start], "gpu": gpu, "size": size}
        super().__init__(
            config={
                "presets": [[label, values] for label, values in tilings.items()],
                "choices": _choices([*tilings.values(), state]),
                **_gpus(),
                "caption": caption,
            },
            state={**state, "thread": thread, "copies": bool(copies)},
        )

    @property
    def tiling(self) -> Tiling:
        """The tiling that is shown now. Raises ArgumentError if it is an impossible one."""
        return Tiling(**{name: self.state[name] for name in asdict(Tiling())})

    def _title(self) -> str:
        """The sizes in a line."""
        s = self.state
        cut = f" in {s['WMITER']} x {s['WNITER']} subtiles" if s["WMITER"] * s["WNITER"] > 1 else ""
        return (
            f"Block {s['BM']} x {s['BN']} x {s['BK']}, warp {s['WM']} x {s['WN']}{cut}, thread "
            f"{s['TM']} x {s['TN']}"
        )

    def summary(self) -> str:
        """The sizes, what is wrong with them or what they cost, and the marked thread, in words."""
        if found := problems(self.state):
            return f"{self._title()}. {' '.join(found)}"
        s, tiling = self.state, self.tiling
        table = facts(tiling, GPUS[s["gpu"]], s["size"])
        costs = "; ".join(f"{fact.name}: {fact.value}" for fact in table)
        return f"{self._title()}. {costs}. {describe(tiling, min(s['thread'], tiling.threads - 1))}"

    def fallback(self) -> str:
        """The picture, and the words as text: a picture of them would weigh more than the rest."""
        words = html.escape(self.summary(), quote=True)
        if problems(self.state):
            return f"<p>{words}</p>"
        t = self.tiling
        data = base64.b64encode(tile_png(t, min(self.state["thread"], t.threads - 1))).decode()
        return f'<img alt="{self._title()}" src="data:image/png;base64,{data}"><p>{words}</p>'

    def png(self) -> bytes:
        """The figure, most of which is text, in few colours."""
        return png_bytes(self.figure(), 24)

    def figure(self) -> Figure:
        """The tile of C with the marked thread, and the table, drawn for 390 pixels."""
        s, found = self.state, problems(self.state)
        if found:
            return tiling_figure(self._title(), " ".join(found), None, 0, [])
        tiling = self.tiling
        thread = min(s["thread"], tiling.threads - 1)
        table = facts(tiling, GPUS[s["gpu"]], s["size"])
        return tiling_figure(self._title(), describe(tiling, thread), tiling, thread, table)


def _presets(given: Presets) -> dict[str, Tiling]:
    """Label -> Tiling."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentError(f"presets: got {given!r}, expected names of steps or label -> Tiling")
    pairs = given.items() if isinstance(given, Mapping) else [(name, name) for name in given]
    found = {}
    for label, value in pairs:
        if isinstance(value, str) and value in STEPS:
            found[short(value) if label == value else label] = STEPS[value]
        elif isinstance(value, Tiling):
            found[label] = value
        else:
            known = ", ".join(STEPS)
            raise ArgumentError(f"presets: got {value!r}, expected a Tiling or one of {known}")
    if not found:
        raise ArgumentError("presets: there are none")
    return found


def _choices(states: list[dict]) -> dict[str, list]:
    """What each control offers: numbers, or (value, text); what a preset has is always among it."""
    offered = {**CHOICES, "stages": (1, 2, 3, 4), "size": _SIZES, "min_blocks": (1, 2, 3, 4, 6, 8)}
    return {
        **{
            name: sorted({*values, *(state[name] for state in states if name in state)})
            for name, values in offered.items()
        },
        "lanes": [list(pair) for pair in LANE_ORDERS.items()],
        "a": [list(pair) for pair in A_LAYOUTS.items()],
        "gpu": [[name, f"{name} ({limits.sms} SMs)"] for name, limits in GPUS.items()],
    }


def _gpus() -> dict[str, dict]:
    """The limits of the first GPU, and what is different on the others."""
    first = next(iter(GPUS.values())).to_dict()
    other = {
        name: {key: value for key, value in limits.to_dict().items() if value != first[key]}
        for name, limits in GPUS.items()
    }
    return {"limits": first, "gpus": other}
