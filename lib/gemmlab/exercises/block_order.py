"""The judge of exercises that write an order of tiles: every grid, then the panels of its waves."""

from __future__ import annotations

from collections.abc import Callable

from .answers import Pair, WrongAnswerError, once, pairs
from .verdict import Verdict

_GRIDS = 20  # rows and columns of tiles that are tried

TileAt = Callable[[int, int, int], tuple[int, int]]


def block_order(
    tile_at: TileAt, panels: int, grid: tuple[int, int] = (64, 64), slots: int = 264
) -> Verdict:
    """Judge `tile_at(t, rows, columns)`, which gives block t's tile as (row, column).

    Each tile of every grid up to 20 x 20 must be taken once. Then the waves of `slots` blocks on
    `grid` (rows, columns) may need at most `panels` panels of A and B, all waves together.
    """
    every = [(r, c) for r in range(1, _GRIDS + 1) for c in range(1, _GRIDS + 1)]
    for rows, columns in [*every, grid]:
        where = f"{rows} x {columns} tiles: "
        try:
            places = pairs(_on(tile_at, rows, columns), rows * columns, "row, column", where)
        except WrongAnswerError as wrong:
            return Verdict(False, str(wrong))
        if problem := _problem(places, rows, columns):
            return Verdict(False, where + problem)
    needed = sum(
        len({at[axis] for at in places[first : first + slots]})
        for first in range(0, len(places), slots)
        for axis in (0, 1)
    )
    said = f"{needed} panels at {grid[0]} x {grid[1]} tiles, {slots} blocks at a time"
    if needed > panels:
        return Verdict(False, f"right for every grid, but {said}; at most {panels} are asked for.")
    return Verdict(True, f"each tile of every grid is taken once; {said}.")


def _on(tile_at: TileAt, rows: int, columns: int) -> Callable[[int], Pair]:
    return lambda t: tile_at(t, rows, columns)


def _problem(places: list[Pair], rows: int, columns: int) -> str:
    """What is wrong with an order, or "" if each tile is taken once."""
    outside, never = once(places, rows, columns)
    if outside is not None:
        return f"block {outside} goes to {places[outside]}, which is outside C."
    return f"tile {never} is never taken, another one twice." if never else ""
