"""Replay: one block's run, to scrub through: the line, the 32 lanes, what they read, who waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ... import sim
from ...core.arguments import integer, text
from ...core.precision import precision as types_of
from ...layouts.shared import banks
from ...sim.journal import KINDS
from ...sim.places import GLOBAL, SHARED, Place, element
from ...sim.replay import BARRIER, UNKNOWN, Replayed, Step, Values, replayed, value_bytes
from ...sim.trace import Trace
from ...steps import registry
from ...steps.program import Program
from ...steps.spec import KernelSpec
from ..shared.base import Widget, new_figure
from ..shared.packed import packed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GAP = 64  # elements: longer gaps between known values end a stretch
# A value up to _NARROW is a character of its own, that of _ZERO + value.
_ZERO, _NARROW, _NO_VALUE = 80, 45, ord("~")


class Replay(Widget):
    """What a block did, tick by tick of model time.

    trace: what `lab.trace(..., journal=True)` returns. dtype: of A and B, by which loaded values
    are read. warp, tick: where it opens. caption: one question, with `code` and **bold**. Raises
    ArgumentError, naming the argument.
    """

    _script = "replay/widget.js"
    _sheets = ("replay/widget.css",)

    def __init__(
        self,
        trace: Trace,
        *,
        dtype: str = "float32",
        warp: int = 0,
        tick: int = 0,
        caption: str = "",
    ) -> None:
        run = replayed(trace, dtype)
        text("caption", caption)
        integer("warp", warp, 0, len(run.warps) - 1, allowed=f"0 to {len(run.warps) - 1}")
        integer("tick", tick, 0, run.ticks - 1, allowed=f"0 to {run.ticks - 1}")
        self._run, self._trace = run, trace
        told = {
            "kinds": list(KINDS),
            "lines": _lines(trace, run),
            "places": [{**asdict(place), "shape": list(place.shape)} for place in trace.places],
            **_steps(run),
            **_values(run, trace.places, 4 if dtype == "float32" else 2),
        }
        super().__init__(
            config={
                "title": _title(trace),
                "caption": caption,
                "warps": len(run.warps),
                "ticks": run.ticks,
                "run": packed(told),
            },
            state={"warp": warp, "tick": tick},
        )

    def _now(self) -> Step | None:
        """The step of the shown warp at the shown tick; None of a warp that does nothing."""
        steps = self._run.warps[self.state["warp"]]
        return steps.at(self.state["tick"]) if len(steps) else None

    def summary(self) -> str:
        """The shown warp's step in words."""
        step = self._now()
        return (
            f"{self.config['title']}, tick {self.state['tick']} of {self.config['ticks']}, warp "
            f"{self.state['warp']}: {words(step)}"
        )

    def figure(self) -> Figure:
        """The lanes of the shown step, and what each asks for."""
        step = self._now()
        figure = new_figure(3.8, 3.2)
        figure.text(0.02, 0.97, f"Warp {self.state['warp']}, {words(step)}", fontsize=8, va="top")
        if step is None:
            return figure
        memory = SHARED if ".shared" in KINDS[step.kind] or "matrix" in KINDS[step.kind] else GLOBAL
        if not KINDS[step.kind].startswith("mark"):
            for lane, address in enumerate(step.addresses):
                where = "-" if address < 0 else element(self._trace.places, memory, address)
                place = (0.02 + 0.25 * (lane // 8), 0.86 - 0.1 * (lane % 8))
                figure.text(*place, f"{lane}: {where}", fontsize=6.5, family="monospace")
        return figure


def words(step: Step | None) -> str:
    """A step in words, as far as it says itself what it costs."""
    if step is None:
        return "has nothing to do"
    kind = KINDS[step.kind]
    where = f"line {step.line}" if step.line else "a header"
    if kind.startswith("mark"):
        waits = f", waits {step.until - step.tick - 1} ticks" if step.until > step.tick + 1 else ""
        return f"{where}, {kind.removeprefix('mark ')}{waits}"
    text = f"{where}, {kind} {step.width} B"
    if kind not in ("ld.shared", "st.shared", "ldmatrix"):
        return text
    active = [address >= 0 for address in step.addresses]
    addresses = [max(0, address) for address in step.addresses]
    found = banks.wavefronts(addresses, step.width, active=active, store=kind != "ld.shared")
    return f"{text}, {found.wavefronts} wavefronts"


def _title(trace: Trace) -> str:
    journal = trace.events()
    cut = f", its first {len(journal.own):,} events" * journal.is_cut
    return f"{trace.kernel}, M={trace.M} N={trace.N} K={trace.K}, block 0{cut}"


def _lines(trace: Trace, run: Replayed) -> list[list]:
    """[number, text] of the kernel's file, from the first line that a step has to the last."""
    used = np.concatenate([steps.line for steps in run.warps])
    used = used[used > 0]
    if not len(used):
        return []
    first, last = max(1, int(used.min()) - 2), min(len(trace.source), int(used.max()) + 2)
    return [[n, trace.source[n - 1]] for n in range(first, last + 1)]


def _steps(run: Replayed) -> dict:
    """What the steps are, in tables, and for each warp columns of numbers that point into them.

    requests: [kind, line, width, shape], and a shape is what 32 lanes add to the lowest address,
    -1 for those that take no part. warps: the numbers of three columns, and where each request
    begins. The columns: of each step the request, and how far it has moved since the last one of
    the same; of each barrier the ticks that the warp waits there. Many warps have the same columns.
    """
    lanes = np.concatenate([steps.addresses for steps in run.warps])
    takes_part = lanes >= 0
    base = np.where(takes_part, lanes, np.iinfo(lanes.dtype).max).min(axis=1)
    base[~takes_part.any(axis=1)] = 0
    shapes, shape = _numbered(np.where(takes_part, lanes - base[:, None], -1))
    columns = ([getattr(steps, name) for steps in run.warps] for name in ("kind", "line", "width"))
    what = np.stack([*map(np.concatenate, columns), shape], axis=1)
    requests, request = _numbered(what)
    kept: dict[bytes, int] = {}
    ends = np.cumsum([len(steps) for steps in run.warps])[:-1]
    warps = []
    for steps, own, at in zip(
        run.warps, *(np.split(x, ends) for x in (request, base)), strict=True
    ):
        moved, starts = _moved(own, at)
        waited = (steps.until - steps.tick - 1)[steps.kind == BARRIER]
        numbers = [kept.setdefault(x.tobytes(), len(kept)) for x in (own, moved, waited)]
        warps.append([*numbers, starts])
    return {
        "shapes": shapes.tolist(),
        "requests": requests.tolist(),
        "columns": [np.frombuffer(column, np.int64).tolist() for column in kept],
        "warps": warps,
    }


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of a table of int64, and of each row the number of the one like it."""
    size = rows.shape[1] * rows.itemsize
    text = rows.tobytes()
    numbers: dict[bytes, int] = {}
    each = [
        numbers.setdefault(text[at : at + size], len(numbers)) for at in range(0, len(text), size)
    ]
    table = np.frombuffer(b"".join(numbers), np.int64).reshape(-1, rows.shape[1])
    return table, np.array(each, np.int64)


def _moved(request: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Of each step how far its address is from that of the same request before, 0 for the first.

    With it [request, address] of the first ones.
    """
    order = np.argsort(request, kind="stable")
    by_request, addresses = request[order], base[order]
    is_first = np.append(True, by_request[1:] != by_request[:-1])[: len(order)]
    moved = np.empty_like(base)
    moved[order] = np.where(is_first, 0, np.diff(addresses, prepend=0))
    return moved, np.stack([by_request, addresses], axis=1)[is_first].tolist()


def _values(run: Replayed, places: Sequence[Place], normal: int) -> dict:
    """What was read and written: of each memory and epoch, stretches of elements.

    values: [memory, epoch, start, bytes of an element, number of its data]: what is stored in one
    epoch is mostly read in the next. normal: the bytes where no array's shape tells them.
    """
    found = []
    data: dict[bytes, int] = {}
    for memory, seen in run.values.items():
        for epoch, start, size, values in _stretches(seen, _sizes(seen, places, memory, normal)):
            number = data.setdefault(values.tobytes(), len(data))
            found.append([memory, epoch, start, size, number])
    return {"values": found, "data": [_short(np.frombuffer(one, np.int64)) for one in data]}


def _short(values: np.ndarray) -> str | list[int | None]:
    """Small values as a text of as many characters; else a list, with None for the unknown."""
    unknown = values == UNKNOWN
    if not (np.abs(values[~unknown]) > _NARROW).any():
        return np.where(unknown, _NO_VALUE, _ZERO + values).astype(np.uint8).tobytes().decode()
    return [None if value == UNKNOWN else value for value in values.tolist()]


def _sizes(seen: Values, places: Sequence[Place], memory: str, normal: int) -> np.ndarray:
    """The bytes of the element at each address."""
    sizes = np.full(len(seen.address), normal)
    for place in places:
        if place.shape and place.memory == memory.removeprefix("to "):
            end = place.start + place.bytes
            own = (place.start <= seen.address) & (seen.address < end)
            sizes[own] = value_bytes(place) or normal
    return sizes


def _stretches(seen: Values, sizes: np.ndarray) -> Iterator[tuple[int, int, int, np.ndarray]]:
    """Of each run of elements that lie side by side: epoch, start, bytes of an element, values.

    Short gaps are filled with what is not known.
    """
    step = np.diff(seen.address)
    on = (np.diff(seen.epoch) == 0) & (np.diff(sizes) == 0)
    on &= (step > 0) & (step % sizes[:-1] == 0) & (step // sizes[:-1] <= _GAP + 1)
    begins = np.flatnonzero(~on) + 1
    for own in np.split(np.arange(len(sizes)), begins) if len(sizes) else ():
        start, size = int(seen.address[own[0]]), int(sizes[own[0]])
        at = (seen.address[own] - start) // size
        values = np.full(at[-1] + 1, UNKNOWN)
        values[at] = seen.value[own]
        yield int(seen.epoch[own[0]]), start, size, values


def replay(
    kernel: str | KernelSpec | Program,
    M: int = 128,
    N: int = 128,
    K: int = 64,
    *,
    precision: str = "",
    warp: int = 0,
    tick: int = 0,
    caption: str = "",
) -> Replay:
    """Step through a block's run: source line, 32 lanes with addresses and values, who waits.

    kernel: a step, a variant, a cell's kernel. M, N, K: sizes that it takes. precision: one that it
    is compiled for; its first, if not given. warp, tick: where it opens. caption: one question.
    Raises what `lab.trace` raises, and ArgumentError, naming the argument.
    """
    step = registry.program(kernel)
    types = types_of(precision or step.spec.precisions[0])
    trace = sim.trace(kernel, M, N, K, precision=types.name, journal=True)
    return Replay(trace, dtype=types.given, warp=warp, tick=tick, caption=caption)
