"""Judges for the book's exercises: each returns a verdict with a hint, and wrong answers fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .errors import ArgumentError
from .fragment_exercises import fragment
from .kernel_exercises import kernel
from .layouts import banks
from .layouts.access import Access, Layout, Tile
from .ring_exercises import parities, ring
from .swizzle_exercises import swizzle16
from .tensor_map_exercises import box_source
from .verdict import Verdict
from .warp_tile_exercises import warp_tile

__all__ = [
    "Verdict",
    "box_source",
    "fragment",
    "kernel",
    "mapping",
    "parities",
    "ring",
    "swizzle",
    "swizzle16",
    "thread_tile",
    "warp_tile",
]

LANES = range(banks.WARP)


def swizzle(layout: str, rows: int, store: str, cols: int = 128, fragment: int = 8) -> Verdict:
    """Judge a layout of a (rows, cols) tile of floats, written as for BankMap: "col ^ (row/4*8)".

    It must keep aligned runs of `fragment` elements together, aligned to 16 bytes, and be free of
    conflicts in the four 4-byte stores of a thread, of which the first goes to `store` ("row =
    lane%4*4; col = lane/4") and each next one row further, and in the 16-byte loads of fragments.
    """
    tile = Tile(rows, cols)
    try:
        table = Layout.parse(layout).table(tile)
    except ArgumentError as error:
        return Verdict(False, str(error))
    runs = table.reshape(rows, -1, fragment)
    if (runs != runs[:, :, :1] + np.arange(fragment)).any():
        return Verdict(False, f"it tears {fragment} neighbours apart: they are no float4 any more.")
    if (runs[:, :, 0] % 4).any():
        return Verdict(False, "some fragments do not begin at a multiple of 16 bytes.")
    worst = max(_requests(table, store, cols), key=lambda r: r.conflicts)
    if worst.conflicts:
        return Verdict(False, f"for a store or a load: {banks.describe(worst)}")
    return Verdict(True, "no conflict in any store or load, and every fragment stays in one piece.")


def _requests(table: np.ndarray, store: str, cols: int) -> Iterator[banks.Request]:
    """The four stores of a thread's float4, one row after the other, and the loads of each row."""
    lanes = np.array(Access(store, width=4, store=True).elements(cols, 4))
    for j in range(4):
        yield banks.wavefronts(4 * table[lanes[:, 0] + j, lanes[:, 1]], 4, store=True)
    fragments = np.array(LANES) // 4 * 8
    for row in table:
        yield banks.wavefronts(4 * row[fragments], 16)


def mapping(element: Callable[[int], tuple[int, int]], rows: int, cols: int) -> Verdict:
    """Judge a warp's mapping of lanes to (row, column) of C for a naive kernel with K = N = 1024.

    The 32 lanes must cover `rows` x `cols` elements, once each, so that `cols` neighbours of a row
    are neighbouring lanes. The message counts the sectors of A and B per step of k.
    """
    try:
        cells = [(int(row), int(col)) for row, col in map(element, LANES)]
    except (TypeError, ValueError):
        return Verdict(False, "the function must return a pair (row, column) for each lane.")
    if sorted(cells) != [(r, c) for r in range(rows) for c in range(cols)]:
        return Verdict(False, f"the 32 lanes must cover {rows} rows and {cols} columns, once each.")
    a = banks.sectors([4 * 1024 * r for r, _ in cells], 4)
    b = banks.sectors([4 * c for _, c in cells], 4)
    count = f"A {a} + B {b} = {a + b} sectors per step of k"
    if cells != [(lane // cols, lane % cols) for lane in LANES]:
        return Verdict(
            False, f"{count}, but threadIdx.x is to be the column: lanes go along a row."
        )
    return Verdict(True, count + ".")


def thread_tile(TM: int, TN: int, fmas_per_value: float, registers: int) -> Verdict:
    """Judge a thread tile by FMAs per value read and by registers for its sums and values."""
    for name, value in (("TM", TM), ("TN", TN)):
        if not isinstance(value, int) or value < 4 or value % 4:
            raise ArgumentError(f"{name}: got {value!r}, expected 4, 8, 12, ... (for float4)")
    ratio = TM * TN / (TM + TN)
    used = TM * TN + TM + TN
    text = f"{TM}x{TN}: {ratio:.2f} FMAs per value, {used} registers"
    if ratio < fmas_per_value:
        return Verdict(False, f"{text}; at least {fmas_per_value} FMAs per value are asked for.")
    if used > registers:
        return Verdict(False, f"{text}; at most {registers} registers are allowed.")
    return Verdict(True, text + ".")
