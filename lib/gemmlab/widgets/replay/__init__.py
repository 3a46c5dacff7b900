"""Replay: one block's run, to scrub through: the line, the 32 lanes, what they read, who waits."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ... import sim
from ...core.arguments import integer, text
from ...core.precision import precision as types_of
from ...layouts.shared import banks
from ...sim.journal import KINDS, MOST
from ...sim.places import GLOBAL, SHARED, Place, element
from ...sim.replay import UNKNOWN, Replayed, Step, element_bytes, replayed
from ...sim.trace import Trace
from ...steps import registry
from ...steps.program import Program
from ...steps.spec import KernelSpec
from ..shared.base import Widget, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NARROW = 127  # the largest value that a byte holds
_GAP = 64  # elements: longer gaps between known values end a stretch


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
        super().__init__(
            config={
                "title": f"{trace.kernel}, M={trace.M} N={trace.N} K={trace.K}, block 0"
                + f", its first {MOST:,} events" * (len(trace.events().rows) >= MOST),
                "caption": caption,
                "ticks": run.ticks,
                "kinds": list(KINDS),
                "lines": _lines(trace, run),
                "places": [
                    {
                        "name": p.name,
                        "memory": p.memory,
                        "start": p.start,
                        "bytes": p.bytes,
                        "shape": list(p.shape),
                    }
                    for p in trace.places
                ],
                **_steps(run),
                **_values(run, trace.places, 4 if dtype == "float32" else 2),
            },
            state={"warp": warp, "tick": tick},
        )

    def _now(self) -> Step:
        """The step of the shown warp at the shown tick."""
        steps, tick = self._run.warps[self.state["warp"]], self.state["tick"]
        return next((step for step in reversed(steps) if step.tick <= tick), steps[0])

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
        memory = SHARED if ".shared" in KINDS[step.kind] or "matrix" in KINDS[step.kind] else GLOBAL
        if not KINDS[step.kind].startswith("mark"):
            for lane, address in enumerate(step.addresses):
                where = "-" if address < 0 else element(self._trace.places, memory, address)
                place = (0.02 + 0.25 * (lane // 8), 0.86 - 0.1 * (lane % 8))
                figure.text(*place, f"{lane}: {where}", fontsize=6.5, family="monospace")
        return figure


def words(step: Step) -> str:
    """A step in words, as far as it says itself what it costs."""
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


def _lines(trace: Trace, run: Replayed) -> list[list]:
    """[number, text] of the kernel's file, from the first line that a step has to the last."""
    used = [step.line for steps in run.warps for step in steps if step.line]
    if not used:
        return []
    first, last = max(1, min(used) - 2), min(len(trace.source), max(used) + 2)
    return [[n, trace.source[n - 1]] for n in range(first, last + 1)]


def _steps(run: Replayed) -> dict:
    """What the steps are, in tables, and rows of numbers that point into them.

    A step begins when the one before has ended, and its epoch counts the waits before it.
    """
    whats: dict[tuple[int, int, int], int] = {}
    shapes: dict[bytes, int] = {}
    warps = []
    for steps in run.warps:
        lanes = np.array([step.addresses for step in steps], np.int64).reshape(len(steps), -1)
        base = np.where(lanes < 0, 1 << 32, lanes).min(axis=1, initial=1 << 32)
        base[base == 1 << 32] = 0
        relative = np.where(lanes < 0, -1, lanes - base[:, None])
        rows = [
            (
                whats.setdefault((step.kind, step.line, step.width), len(whats)),
                shapes.setdefault(shape.tobytes(), len(shapes)),
                step.until,
            )
            for step, shape in zip(steps, relative, strict=True)
        ]
        what, which, until = np.array(rows, np.int64).reshape(-1, 3).T
        warps.append(_packed(np.stack([what, which, base, until], axis=1).astype(np.int32)))
    return {
        "whats": [list(w) for w in whats],
        "shapes": [np.frombuffer(shape, np.int64).tolist() for shape in shapes],
        "warps": warps,
    }


def _values(run: Replayed, places: Sequence[Place], normal: int) -> dict:
    """What was read and written: for each memory and epoch, stretches of elements.

    size: bytes of an element. wide: each takes two bytes here, not one. data: an index into
    `packed`: what is stored in one epoch is mostly read in the next. normal: the size where no
    array's shape tells it.
    """
    found = []
    data: dict[str, int] = {}
    for memory, epochs in run.values.items():
        sizes = _sizes(places, memory, normal)
        for epoch, seen in epochs.items():
            for start, size, values in _stretches(seen, sizes):
                known = [value for value in values if value != UNKNOWN]
                wide = max(map(abs, known), default=0) > _NARROW
                unknown = UNKNOWN if wide else -_NARROW - 1
                numbers = [unknown if value == UNKNOWN else value for value in values]
                packed = _packed(np.array(numbers, np.int16 if wide else np.int8))
                what = {"memory": memory, "epoch": epoch, "start": start, "size": size}
                found.append({**what, "wide": wide, "data": data.setdefault(packed, len(data))})
    return {"values": found, "packed": list(data)}


def _sizes(places: Sequence[Place], memory: str, normal: int) -> Callable[[int], int]:
    """A function from an address to the bytes of the element there."""
    own = [p for p in places if p.memory == memory.removeprefix("to ") and p.shape]

    def size(address: int) -> int:
        return next((element_bytes(p) for p in own if p.holds(address)), normal)

    return size


def _stretches(
    seen: dict[int, int], size_at: Callable[[int], int]
) -> Iterable[tuple[int, int, list[int]]]:
    """Runs of elements that lie side by side; short gaps are filled with what is not known."""
    start, size, values, at = 0, 0, list[int](), -1
    for address in sorted(seen):
        own = size_at(address)
        gap = (address - at) // own
        if values and own == size and 0 <= gap <= _GAP:
            values += [UNKNOWN] * gap
        elif values:
            yield start, size, values
            values = []
        if not values:
            start, size = address, own
        values.append(seen[address])
        at = address + own
    if values:
        yield start, size, values


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


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
