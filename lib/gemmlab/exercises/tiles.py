"""Judges of exercises that choose a layout, a mapping of lanes, or a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core.arguments import integer
from ..core.errors import ArgumentError
from ..layouts.shared import banks
from ..layouts.shared.access import Access, Layout, Tile
from ..layouts.shared.banks import BANK_BYTES, BANKS
from ..layouts.shared.ldmatrix import SIDE
from .answers import WrongAnswerError, pairs
from .verdict import Verdict

LANES = range(banks.WARP)


def swizzle(layout: str, rows: int, store: str, cols: int = 128, fragment: int = 8) -> Verdict:
    """Judge a layout of a (rows, cols) tile of floats, written as for BankMap: "col ^ (row/4*8)".

    It must keep aligned runs of `fragment` elements together, aligned to 16 bytes. The 16-byte
    loads of fragments must have no conflict, and neither may the four 4-byte stores of a thread:
    the first one goes to `store` ("row = lane%4*4; col = lane/4"), each later one to the next row.
    """
    tile = Tile(rows, cols)
    try:
        table = Layout.parse(layout).table(tile)
    except ArgumentError as error:
        return Verdict(False, str(error))
    runs = table.reshape(rows, -1, fragment)
    if (runs != runs[:, :, :1] + np.arange(fragment)).any():
        return Verdict(
            False,
            f"it separates {fragment} adjacent elements, which a float4 load needs in one piece.",
        )
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

    element: a function of the lane, 0 to 31. The 32 lanes must cover `rows` x `cols` elements, once
    each, so that `cols` adjacent elements of a row belong to adjacent lanes. The message counts the
    sectors of A and B per step of k.
    """
    try:
        cells = pairs(element, len(LANES), "row, column")
    except WrongAnswerError as wrong:
        return Verdict(False, f"{wrong} (// for /?)")
    if sorted(cells) != [(r, c) for r in range(rows) for c in range(cols)]:
        return Verdict(False, f"the 32 lanes must cover {rows} rows and {cols} columns, once each.")
    a = banks.sectors([4 * 1024 * r for r, _ in cells], 4)
    b = banks.sectors([4 * c for _, c in cells], 4)
    count = f"A {a} + B {b} = {a + b} sectors per step of k"
    if cells != [(lane // cols, lane % cols) for lane in LANES]:
        return Verdict(
            False,
            f"{count}, but threadIdx.x must be the column: lanes go along a row.",
        )
    return Verdict(True, count + ".")


def thread_tile(TM: int, TN: int, fmas_per_value: float, registers: int) -> Verdict:
    """Judge a thread tile by FMAs per value read and by registers for its sums and values.

    TM, TN: its rows and columns of C, multiples of 4. fmas_per_value: the least TM * TN / (TM +
    TN). registers: the most for TM * TN sums and TM + TN values. Raises ArgumentError for other
    sides.
    """
    for name, value in (("TM", TM), ("TN", TN)):
        _multiple(name, value, 4, "expected 4, 8, 12, ... (for float4)")
    ratio = TM * TN / (TM + TN)
    used = TM * TN + TM + TN
    text = f"{TM}x{TN}: {ratio:.2f} FMAs per value, {used} registers"
    if ratio < fmas_per_value:
        return Verdict(False, f"{text}; at least {fmas_per_value} FMAs per value are asked for.")
    if used > registers:
        return Verdict(False, f"{text}; at most {registers} registers are allowed.")
    return Verdict(True, text + ".")


K_STEP = 16  # of mma.m16n8k16
_X4 = (2 * SIDE) ** 2  # elements that an ldmatrix.x4 loads, in 4 wavefronts


def warp_tile(WM: int, WN: int, allows: float, accumulators: int) -> Verdict:
    """Judge a warp's tile of 16-bit operands: the FLOP per clock that shared memory allows an SM.

    WM, WN: its rows and columns of C, multiples of 16. allows: the least FLOP per clock and SM, if
    ldmatrix has no conflicts. accumulators: the most sums in fp32 for each of 32 lanes.
    Raises ArgumentError for sides that are no multiples of 16.
    """
    for name, value in (("WM", WM), ("WN", WN)):
        _multiple(name, value, 16, "expected 16, 32, 48, ... (for ldmatrix)")
    wavefronts = 4 * K_STEP * (WM + WN) // _X4
    flop = 2 * K_STEP * WM * WN
    sums = WM * WN // 32
    text = (
        f"{WM}x{WN}: {wavefronts} wavefronts of {BANKS * BANK_BYTES} bytes and {flop:,} FLOP a "
        f"k step, {flop / wavefronts:,.0f} FLOP per clock; {sums} accumulators a lane"
    )
    if flop < allows * wavefronts:
        return Verdict(False, f"{text}. At least {allows:,} FLOP per clock are asked for.")
    if sums > accumulators:
        return Verdict(False, f"{text}. At most {accumulators} are allowed.")
    return Verdict(True, text + ".")


def _multiple(name: str, value: int, of: int, expected: str) -> None:
    if integer(name, value, of, allowed=expected) % of:
        raise ArgumentError(f"{name}: got {value!r}, {expected}")
