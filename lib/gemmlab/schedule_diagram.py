"""The figure of a schedule: what each block does, k tile by k tile, with and without stream-K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figure import Figure, Theme, canvas
from .layouts.stream_k import Piece, Schedule, whole_tiles

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure


def schedule(
    tiles: int, k_tiles: int, slots: int, min_share: int = 1, kind: type[Schedule] = Schedule
) -> Figure:
    """Two charts, blocks by time in k tiles: whole tiles in waves above, equal shares below.

    tiles: of C; k_tiles: of each; slots: blocks that run together; kind: how they share. Parts,
    which are less than a tile, have a thick edge and say which k tiles they have. Raises
    ArgumentError for sizes that a Schedule cannot take.
    """
    shared = kind(tiles, k_tiles, slots, min_share)
    plain = whole_tiles(tiles, k_tiles, slots)
    time = max((p.start + k_tiles for p in plain), default=0)
    alt = (
        f"{tiles} tiles of C of {k_tiles} k tiles on {slots} block slots. Whole tiles: {time} k "
        f"tiles of time, {slots * time - tiles * k_tiles} of {slots * time} places empty. Shared "
        f"out: {shared.longest} k tiles of time, {shared.parts} parts. "
    ) + " ".join(_told(shared, block) for block in range(shared.blocks))
    return Figure(lambda theme: _draw(theme, plain, shared, slots, time), alt)


def _told(shared: Schedule, block: int) -> str:
    said = ", ".join(f"tile {p.tile} k {p.begin} to {p.end - 1}" for p in shared.pieces(block))
    return f"Block {block}: {said or 'nothing'}."


def _draw(
    theme: Theme, plain: Sequence[Piece], shared: Schedule, slots: int, time: int
) -> matplotlib.figure.Figure:
    figure, first = canvas(1.4 + 0.58 * slots)
    first.remove()
    for axes, pieces, title in zip(
        figure.subplots(2, 1, sharex=True),
        (plain, shared.everything()),
        (f"whole tiles: {time} k tiles of time", f"shared out: {shared.longest} k tiles of time"),
        strict=True,
    ):
        for piece in pieces:
            _piece(theme, axes, piece, shared.k_tiles)
        axes.set_title(title, fontsize=8.5, loc="left", weight="bold", color=theme.text)
        axes.set_ylim(slots - 0.5, -0.5)
        axes.set_xlim(0, time)
        axes.set_yticks(range(slots), [f"block {b}" for b in range(slots)])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(range(0, time + 1, max(1, shared.k_tiles // 2)))
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
    axes.text(*place, text, ha="center", va="center", fontsize=7, color=theme.text)
