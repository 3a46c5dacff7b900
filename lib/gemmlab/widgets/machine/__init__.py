"""Machine: the one picture of the GPU that chapters open with, and a step's way through it."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...core.arguments import text
from ...display.numbers import short
from ...layouts.traffic.words import quotient
from ...steps import registry
from ..shared.base import Widget, new_figure, png_bytes
from .facts import Facts, facts
from .geometry import NAMES, NARROW, WIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_IN = {
    "direct": "straight into registers",
    "registers": "through registers into shared memory",
    "cp.async": "with cp.async into shared memory, past the registers",
    "tma": "by the copy engine into shared memory",
    "wgmma": "by the copy engine into shared memory, where the tensor cores read them",
}

_READING = ("shared-registers", "shared-tensor")


class Machine(Widget):
    """DRAM, L2, copy engine, shared memory, registers and pipes: what a step uses lights up.

    step: a step of the course. The paths that the step is about are highlighted; six k tiles of a
    block move along its paths in the time of `layouts.pipeline`'s model. Bytes and multiply-adds
    are counted from the step's tile and source, and shown beside those of its parent. caption:
    instead of the step's own idea, with `code` and **bold**. Raises ArgumentError for an unknown
    step.
    """

    _script = "machine/widget.js"
    _sheets = ("shared/play.css", "machine/widget.css")

    def __init__(self, step: str = "sgemm_06_swizzled_a", *, caption: str = "") -> None:
        spec = registry.get(step)
        found = facts(spec.name)
        idea = f"**{short(spec.name)}**: {spec.idea}"
        super().__init__(
            config={
                "step": spec.name,
                "caption": text("caption", caption) or idea,
                "ways": list(found.ways),
                "about": list(found.about),
                "units": _units(found),
                "moves": _moves(found),
                "events": [list(event) for event in found.events()],
                "buffers": found.buffers,
                "tensor": found.tensor,
                "numbers": _numbers(found, facts(spec.parent) if spec.parent else None),
                "model": found.model,
                "wide": _drawing(WIDE, found),
                "narrow": _drawing(NARROW, found),
            },
            state={"time": 0, "unit": _subject(found)},
        )

    @property
    def facts(self) -> Facts:
        """The counted facts of the step."""
        return facts(self.config["step"])

    def summary(self) -> str:
        """The way of a k tile and its numbers, in words."""
        f = self.facts
        numbers = "; ".join(f"{label}: {value}" for label, value, *_ in self.config["numbers"])
        pipe = "tensor cores" if f.tensor else "FMA pipes"
        what = "values" if f.route == "direct" else "tiles"
        return (
            f"{short(f.step)}: {what} come from L2 {_IN[f.route]}; the {pipe} multiply. {numbers}."
        )

    def figure(self) -> Figure:
        """The machine with the step's ways, drawn for 390 pixels."""
        lines = wrap(self.summary(), 62)
        width, height = (n / 100 for n in NARROW["size"])
        above = 0.12 + 0.15 * len(lines)
        figure = new_figure(3.8, height + above + 0.1)
        for n, line in enumerate(lines):
            y = 1 - (0.08 + 0.15 * n) / (height + above + 0.1)
            figure.text(0.02, y, line, fontsize=8, va="top", parse_math=False)
        axes = figure.add_axes((0.02, 0.01, 0.96, height / (height + above + 0.1)))
        axes.set_xlim(-2, 100 * width)
        axes.set_ylim(100 * height, -4)
        axes.set_aspect("equal")
        axes.axis("off")
        _draw(axes, self.facts, dict(_used(self.facts)))
        return figure

    def png(self) -> bytes:
        """The picture in few colours."""
        return png_bytes(self.figure(), 16)


def _size(count: int) -> str:
    """Bytes with a unit: "512 B", "16 KB"; "" for none."""
    if count < 1024:
        return f"{count} B" if count else ""
    return f"{quotient(count, 1024)} KB"


def _numbers(now: Facts, before: Facts | None) -> list[list[str | None]]:
    """Label, value, and the parent's value where it is another one."""
    old = before or now
    # Without shared memory L1 serves many of the bytes that threads ask for, and not L2.
    direct = now.route == "direct"
    same = direct == (old.route == "direct")
    rows = [("asked for, for each k" if direct else "one k tile from L2", _size(now.fetched),
             _size(old.fetched) if same else "")]  # fmt: skip
    rows.append((f"multiply-adds for each byte {'asked for' if direct else 'from L2'}",
                 _each(now.fmas, now.fetched),
                 _each(old.fmas, old.fetched) if same else ""))  # fmt: skip
    if now.read:
        rows.append(("read from shared memory", _size(now.read), _size(old.read)))
        rows.append(("multiply-adds for each byte of that", _each(now.fmas, now.read),
                     _each(old.fmas, old.read)))  # fmt: skip
    return [[label, value, was if was and was != value else None] for label, value, was in rows]


def _each(fmas: int, count: int) -> str:
    """Multiply-adds for each byte, or "" where there are no bytes."""
    return f"{fmas / count:.3g}" if count else ""


def _used(f: Facts) -> list[tuple[str, bool]]:
    """Each unit, and whether a k tile passes it."""
    pipe = "tensor" if f.tensor else "fma"
    passed = {"dram", "l2", "scheduler", "registers", pipe}
    passed |= {unit for way in f.ways for unit in way.split("-") if unit in NAMES}
    return [(name, name in passed) for name in NAMES]


def _units(f: Facts) -> list[list]:
    """Name, title, whether it is used, and what it does for this step."""
    words = _words(f)
    return [[name, NAMES[name], on, words[name]] for name, on in _used(f)]


def _words(f: Facts) -> dict[str, str]:
    """What each unit does for the step, with the step's numbers."""
    BM, BN, BK = registry.get(f.step).tile
    spec = registry.get(f.step)
    idle = "not used by this step."
    tile = f"{_size(f.fetched)} for a k tile ({BM} x {BK} of A, {BK} x {BN} of B)"
    if f.route == "direct":
        tile = f"{_size(f.fetched)} for one k: each of {spec.threads} threads asks for two values"
    if f.held > f.fetched > 0:
        tile += ", the columns of B shared with its cluster"
    multiplies = f"{f.fmas:,} multiply-adds for each k tile of a block."
    # A producer warpgroup has no sums.
    sums = spec.thread_tile[0] * spec.thread_tile[1]
    holders = BM * BN // sums if f.route == "wgmma" else spec.threads
    copied, direct = f.route in ("tma", "wgmma"), f.route == "wgmma"
    readers = "instructions of the warpgroups" if direct else "warps"
    operands = f" They read {_size(f.read)} of A and B out of shared memory." if direct else ""
    return {
        "dram": "holds A, B and C. It is read for what L2 does not have.",
        "l2": f"shared by all SMs. A block asks it for {tile}.",
        "tma": f"one thread names a box, the engine copies it: {_size(f.fetched)} a k tile."
        if copied else idle,
        "l1": idle if copied
        else f"loads of warps pass here, {_size(f.fetched)} a k tile"
        + (" on the way to shared memory." if f.route == "cp.async" else "."),
        "shared": f"{f.buffers} x {_size(f.held)} of tiles; the {readers} read {_size(f.read)} "
        + "of a " + ("k tile." if direct else "k tile, 128 bytes a wavefront.") if f.read else idle,
        "scheduler": "four, one for each partition of the SM; each issues one instruction of a "
        "warp in a cycle.",
        "registers": f"hold the block's {BM} x {BN} sums, "
        f"{quotient(BM * BN, holders)} in each of {holders} threads.",
        "fma": idle if f.tensor else f"128 lanes in an SM: {multiplies}",
        "tensor": multiplies + operands if f.tensor else idle,
    }  # fmt: skip


def _moves(f: Facts) -> dict[str, list[str]]:
    """The ways of each kind of event."""
    through = f.route == "registers"
    into = [way for way in f.ways if way not in (*_READING, "registers-pipes")]
    # Only the sums of wgmma are in registers.
    out = _READING if f.route == "wgmma" else (*_READING, "registers-pipes")
    return {
        "load": [way for way in into if way != "registers-shared"],
        "store": ["registers-shared"] if through else [],
        "multiply": [way for way in f.ways if way in out],
        "write": list(f.home),
    }


def _drawing(given: dict[str, Any], f: Facts) -> dict[str, Any]:
    """The drawing, its last way going on to the pipe that multiplies."""
    if "shared-tensor" not in f.ways:  # a way of Hopper alone
        ways = {name: way for name, way in given["ways"].items() if name != "shared-tensor"}
        given = {**given, "ways": ways}
    if not f.tensor:
        return given
    start, (_, y) = given["ways"]["registers-pipes"]
    reach = given["units"]["tensor"][0][0]
    return {**given, "ways": {**given["ways"], "registers-pipes": [start, [reach, y]]}}


def _subject(f: Facts) -> str:
    """The unit whose words are shown first: where the ways that the step is about end."""
    last = (f.about or f.ways)[-1].split("-")[-1]
    return ("tensor" if f.tensor else "fma") if last == "pipes" else last


def _draw(axes: Axes, f: Facts, used: dict[str, bool]) -> None:
    """The narrow drawing, with the step's ways."""
    from matplotlib.patches import Rectangle

    x, y, width, height = NARROW["sm"]
    axes.add_patch(Rectangle((x, y), width, height, fill=False, ls=":", ec="#57606b"))
    axes.text(x + 8, y + 18, "one SM", fontsize=8)
    for name, points in NARROW["ways"].items():
        if name == "shared-tensor" and name not in f.ways:
            continue
        colour = "#d97f0f" if name in f.about else "#56606b" if name in f.ways else "#d5dbe1"
        axes.plot(*zip(*points, strict=True), color=colour, lw=3 if name in f.ways else 1)
    for name, boxes in NARROW["units"].items():
        for box in boxes:
            face = "#dcebf5" if used[name] else "#ffffff"
            patch = Rectangle(box[:2], *box[2:], facecolor=face, edgecolor="#57606b", lw=0.8)
            axes.add_patch(patch)
        left, top, wide, high = boxes[0]
        at = (left + wide / 2, top - 5 if len(boxes) > 1 else top + high / 2 + 4)
        axes.text(*at, NAMES[name], fontsize=7.5, ha="center")
