"""Drawings that explain: which sectors a warp touches, which thread owns which part of a tile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.arguments import integer
from ..core.errors import ArgumentError
from ..display.figure import SMALL, Figure, Theme, canvas, is_narrow
from ..layouts.schedules.stream_k import Piece, StreamK, whole_tiles
from ..layouts.shared.banks import SECTOR_BYTES, WARP
from ..layouts.shared.banks import sectors as count_sectors
from ..run.kernel import Kernel, kernel

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

_FLOATS_PER_SECTOR = SECTOR_BYTES // 4
_SHOWN_SECTORS = 8


def sector_diagram(requests: Mapping[str, Sequence[int]]) -> Figure:
    """The 32-byte sectors that each request touches, and which 4 bytes of them the lanes use.

    requests: caption -> 32 byte addresses of 4-byte loads, lane by lane. At most the first eight
    sectors of a request are drawn.
    """
    counts = {name: count_sectors(list(at), 4) for name, at in requests.items()}
    used = {name: {a // 4 for a in at} for name, at in requests.items()}
    alt = "Sectors of one warp's request: " + "; ".join(
        f"{name}: {count} sectors, {4 * len(used[name])} of {SECTOR_BYTES * count} bytes used"
        for name, count in counts.items()
    )
    return Figure(lambda theme: _draw_sectors(theme, used, counts), f"{alt}.")


def _draw_sectors(theme: Theme, used: dict[str, set[int]], counts: dict[str, int]):
    from matplotlib.patches import Rectangle

    figure, axes = canvas(0.85 * len(used) + 0.2)
    for place, (name, words) in enumerate(used.items()):
        top = 2.6 * place
        axes.text(0, top, name, va="bottom", color=theme.text, weight="bold", fontsize=SMALL)
        note = f"{counts[name]} sector{'s' * (counts[name] > 1)}, "
        note += f"{4 * len(words)} of {SECTOR_BYTES * counts[name]} bytes used"
        axes.text(_width(), top, note, va="bottom", ha="right", color=theme.quiet, fontsize=SMALL)
        touched = sorted({word // _FLOATS_PER_SECTOR for word in words})
        for slot, sector in enumerate(touched[:_SHOWN_SECTORS]):
            left = slot * (_FLOATS_PER_SECTOR + 1)
            for i in range(_FLOATS_PER_SECTOR):
                wanted = sector * _FLOATS_PER_SECTOR + i in words
                face = theme.accent if wanted else "none"
                box = Rectangle((left + i, top + 0.25), 0.9, 0.9, facecolor=face)
                box.set(edgecolor=theme.accent if wanted else theme.quiet, linewidth=0.6)
                axes.add_patch(box)
        if len(touched) > _SHOWN_SECTORS:
            more = f"and {len(touched) - _SHOWN_SECTORS} more like these"
            axes.text(0, top + 1.75, more, va="center", color=theme.quiet, fontsize=SMALL)
    axes.set_xlim(-0.3, _width() + 0.3)
    axes.set_ylim(2.6 * len(used) - 0.3, -1.0)
    axes.set_aspect("auto")
    axes.axis("off")
    return figure


def _width() -> int:
    return _SHOWN_SECTORS * (_FLOATS_PER_SECTOR + 1) - 1


def tile_diagram(name: str | Kernel, thread: int = 0) -> Figure:
    """A block's tile of C: its warps, the lanes of one warp, and the part of one thread.

    The step's file must name BM, BN, TM and TN, and WM and WN, its warps and lanes numbered row by
    row. Without WM and WN its threads are numbered row by row, and TN is 1 or it names COLS, the
    distance between a thread's columns.
    Raises ArgumentError for a step without them and for a thread that is not in the block.
    """
    spec = kernel(name).spec
    text = spec.path.read_text()
    sizes = {n: int(v) for n, v in re.findall(r"\b([BWT][MN]) = (\d+)", text)}
    strided = sizes.get("TN") == 1 or "COLS = BN / TN" in text
    if not {"BM", "BN", "TM", "TN"} <= set(sizes) or not ("WM" in sizes or strided):
        raise ArgumentError(f"name: {spec.name} has no tiles of threads to draw")
    has = f"{spec.name} has threads 0 to {spec.threads - 1}"
    integer("thread", thread, 0, spec.threads - 1, allowed=has)
    apart = 1 if "WM" in sizes else sizes["BN"] // sizes["TN"]  # columns of a thread
    if apart > 1:
        sizes |= {"WM": WARP // apart * sizes["TM"], "WN": sizes["BN"]}
    warp, lane = divmod(thread, WARP)
    m, n = _corner(sizes, apart, warp, lane)
    columns = [n + j * apart for j in range(sizes["TN"])]
    told = (
        f"s {n} to {columns[-1]}"
        if apart == 1
        else f"{'s' if n < columns[-1] else ''} " + ", ".join(map(str, columns))
    )
    alt = (
        f"A tile of {sizes['BM']} x {sizes['BN']} elements of C, cut into warps of {sizes['WM']} x "
        f"{sizes['WN']} and threads of {sizes['TM']} x {sizes['TN']}. Thread {thread} is lane "
        f"{lane} of warp {warp} and owns rows {m} to {m + sizes['TM'] - 1}, column{told}."
    )
    return Figure(lambda theme: _draw_tiles(theme, sizes, apart, thread), alt)


def _corner(sizes: dict[str, int], apart: int, warp: int, lane: int) -> tuple[int, int]:
    """The first row and column of a lane."""
    per_row, step = sizes["BN"] // sizes["WN"], sizes["TN"] if apart == 1 else 1
    lanes_per_row = sizes["WN"] // sizes["TN"]
    return (
        warp // per_row * sizes["WM"] + lane // lanes_per_row * sizes["TM"],
        warp % per_row * sizes["WN"] + lane % lanes_per_row * step,
    )


def _draw_tiles(theme: Theme, sizes: dict[str, int], apart: int, thread: int):
    from matplotlib.patches import Rectangle

    figure, axes = canvas(3.4 if is_narrow() else 4.8)
    BM, BN, WM, WN = (sizes[n] for n in ("BM", "BN", "WM", "WN"))
    warp = thread // WARP
    for index in range((BM // WM) * (BN // WN)):
        top, left = index // (BN // WN) * WM, index % (BN // WN) * WN
        own = index == warp
        box = Rectangle((left, top), WN, WM, facecolor=theme.accent if own else "none", alpha=0.18)
        axes.add_patch(box)
        edge = Rectangle((left, top), WN, WM, fill=False, edgecolor=theme.text, linewidth=1.2)
        axes.add_patch(edge)
        place = (left + WN / 2, top + WM / 2)
        if not own:
            axes.text(*place, f"warp {index}", ha="center", va="center", color=theme.quiet)
    _draw_lanes(theme, axes, sizes, apart, thread)
    axes.set_xlim(-0.5, BN + 0.5)
    axes.set_ylim(BM + 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(0, BN + 1, WN if WN < BN else BN // 8))
    axes.set_yticks(range(0, BM + 1, WM))
    axes.set_xlabel(f"column of the tile; thread {thread} is lane {thread % WARP} of warp {warp}")
    axes.set_ylabel("row of the tile")
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _draw_lanes(theme: Theme, axes, sizes: dict[str, int], apart: int, thread: int) -> None:
    """The parts of a warp's lanes; of lanes with single columns, all parts of `thread` only."""
    from matplotlib.patches import Rectangle

    warp, TM, TN = thread // WARP, sizes["TM"], sizes["TN"]
    for lane in range(WARP):
        m, n = _corner(sizes, apart, warp, lane)
        mine = lane == thread % WARP
        lefts, width = ([n], TN) if apart == 1 else (range(n, n + TN * apart, apart), 1)
        for left in lefts if mine else lefts[:1]:
            part = Rectangle((left, m), width, TM, facecolor=theme.strong if mine else "none")
            part.set(edgecolor=theme.quiet, linewidth=0.5)
            axes.add_patch(part)
        room = 16 * width >= sizes["BN"] or (lane - thread) % 8 == 0
        if room and 32 * width >= sizes["BN"]:  # for a number of two digits
            colour = theme.paper if mine else theme.text
            place = (n + width / 2, m + TM / 2)
            axes.text(*place, str(lane), ha="center", va="center", color=colour, fontsize=SMALL)


def schedule_diagram(plan: StreamK) -> Figure:
    """Two charts, blocks by time in k tiles: whole tiles in waves above, equal shares below.

    plan: a schedule, such as `layouts.Schedule(tiles=5, k_tiles=8, most=4, min_share=1)`. Pieces,
    which are less than a tile, have a thick edge and say which k tiles they have.
    """
    slots, k_tiles = plan.most, plan.k_tiles
    plain = whole_tiles(plan.tiles, k_tiles, slots)
    time = max((p.start + k_tiles for p in plain), default=0)
    alt = (
        f"{plan.tiles} tiles of C of {k_tiles} k tiles on {slots} block slots. Whole tiles: {time} "
        f"k tiles of time, {slots * time - plan.tiles * k_tiles} of {slots * time} places empty. "
        f"Shared out: {plan.longest} k tiles of time, {plan.parts} parts. "
    ) + " ".join(_told(plan, block) for block in range(plan.blocks))
    return Figure(lambda theme: _draw(theme, plain, plan, time), alt)


def _told(plan: StreamK, block: int) -> str:
    said = ", ".join(f"tile {p.tile} k {p.begin} to {p.end - 1}" for p in plan.pieces(block))
    return f"Block {block}: {said or 'nothing'}."


def _draw(
    theme: Theme, plain: Sequence[Piece], plan: StreamK, time: int
) -> matplotlib.figure.Figure:
    slots = plan.most
    figure, first = canvas(1.6 + 0.7 * slots)
    first.remove()
    for axes, pieces, title in zip(
        figure.subplots(2, 1, sharex=True),
        (plain, plan.everything()),
        (f"whole tiles: {time} k tiles of time", f"shared out: {plan.longest} k tiles of time"),
        strict=True,
    ):
        for piece in pieces:
            _piece(theme, axes, piece, plan.k_tiles)
        axes.set_title(title, loc="left", weight="bold", color=theme.text)
        axes.set_ylim(slots - 0.5, -0.5)
        axes.set_xlim(0, time)
        axes.set_yticks(range(slots), [f"block {b}" for b in range(slots)])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(range(0, time + 1, max(1, plan.k_tiles // 2)))
        axes.grid(True, axis="x")
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
    axes.set_xlabel("time, in k tiles")
    return figure


def _piece(theme: Theme, axes: matplotlib.axes.Axes, piece: Piece, k_tiles: int) -> None:
    from matplotlib.patches import Rectangle

    length = piece.end - piece.begin
    part = length < k_tiles
    colour = theme.series[piece.tile % len(theme.series)]
    box = Rectangle((piece.start + 0.05, piece.block - 0.38), length - 0.1, 0.76)
    box.set(facecolor=(colour, 0.22), edgecolor=colour, linewidth=2.0 if part else 0.8)
    axes.add_patch(box)
    text = f"tile {piece.tile}" if length > 3 else str(piece.tile)
    text += f"\nk {piece.begin}-{piece.end - 1}" if part else ""
    place = (piece.start + length / 2, piece.block)
    axes.text(*place, text, ha="center", va="center", fontsize=SMALL, color=theme.text)
