"""The judge of exercises that choose a warp's tile by what ldmatrix has to read for it."""

from __future__ import annotations

from .errors import ArgumentError
from .layouts.banks import BANK_BYTES, BANKS
from .layouts.ldmatrix_phases import SIDE
from .verdict import Verdict

K_STEP = 16  # of mma.m16n8k16
_X4 = (2 * SIDE) ** 2  # elements that an ldmatrix.x4 loads, in 4 wavefronts


def warp_tile(WM: int, WN: int, allows: float, accumulators: int) -> Verdict:
    """Judge a warp's tile of 16-bit operands: the FLOP per clock that shared memory allows an SM.

    It must be at least `allows`, if ldmatrix has no conflicts, with at most `accumulators` sums in
    fp32 for each of 32 lanes. Raises ArgumentError for sides that are no multiples of 16.
    """
    for name, value in (("WM", WM), ("WN", WN)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 16 or value % 16:
            raise ArgumentError(f"{name}: got {value!r}, expected 16, 32, 48, ... (for ldmatrix)")
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
