"""What a tiling costs and what a thread of it does, in words; `tiling_facts.js` says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .occupancy import Limits, Occupancy, occupancy, waves
from .rules import number
from .tiling import Tiling, vector

OTHER_REGISTERS = 24  # addresses, counters: the course's kernels take 23 to 47 (ptxas)
_VECTORS = {4: "float4", 2: "float2", 1: "float"}


@dataclass(frozen=True)
class Fact:
    """A line of the table: `how` says where the value comes from. bar: a share of 1, or None."""

    name: str
    value: str
    how: str
    bar: float | None = None
    bad: bool = False


def percent(share: float) -> str:
    """A share of 1 as a whole percentage."""
    return f"{int(100 * share + 0.5)} %"


def registers(t: Tiling, gpu: Limits) -> tuple[int, int]:
    """Registers a thread, about, and how many it may have: what __launch_bounds__ leaves.

    A request for more threads than an SM holds is ignored, as nvcc does.
    """
    asked = t.min_blocks if t.min_blocks * t.threads <= gpu.threads else 1
    most = min(gpu.registers_thread, gpu.registers // (asked * t.threads) // 8 * 8)
    return min(t.sums + t.fragments + OTHER_REGISTERS, most), most


def facts(t: Tiling, gpu: Limits, size: int) -> list[Fact]:
    """The table; size is M and N."""
    found = occupancy(t.threads, registers(t, gpu)[0], t.shared_bytes, gpu)
    return [
        _threads(t),
        _shared(t, gpu),
        _registers(t, gpu),
        _occupancy(found, gpu),
        Fact(
            "FLOP per byte from global memory",
            number(t.intensity),
            f"{t.BM} x {t.BN} / (2 x ({t.BM} + {t.BN})); BK cancels",
        ),
        Fact(
            "FMAs per value from shared memory",
            number(t.fmas_per_value),
            "{0} x {1} / ({0} + {1})".format(*t.values),
        ),
        *_pace(t, gpu),
        _stores(t),
        *_grid(t, found, gpu, size),
    ]


def _threads(t: Tiling) -> Fact:
    subtiles = t.WMITER * t.WNITER
    where = f" in each of {t.WMITER} x {t.WNITER} subtiles" if subtiles > 1 else ""
    lanes = f"{t.lane_rows} x {t.lane_cols} lanes of {t.TM} x {t.TN}{where}"
    warps = t.threads // 32
    noun = "warp" if warps == 1 else "warps"
    how = f"{t.warp_rows} x {t.warp_cols} = {warps} {noun} of {t.WM} x {t.WN}; {lanes}"
    return Fact("Threads", number(t.threads), how)


def _shared(t: Tiling, gpu: Limits) -> Fact:
    times = f"{t.stages} x " if t.stages > 1 else ""
    how = f"{times}({t.BM} x {t.BK} + {t.BK} x {t.BN}) x 4 bytes"
    most = gpu.shared_block
    if t.shared_bytes > most:
        how += f"; a block has at most {number(most / 1024)} KB"
    elif t.shared_bytes > gpu.shared_default:
        how += f"; above {number(gpu.shared_default / 1024)} KB the launch must ask for it"
    value = f"{number(t.shared_bytes / 1024)} KB"
    return Fact("Shared memory", value, how, bad=t.shared_bytes > most)


def _registers(t: Tiling, gpu: Limits) -> Fact:
    needed = t.sums + t.fragments
    about, most = registers(t, gpu)
    blocks = "1 block" if t.min_blocks == 1 else f"{t.min_blocks} blocks"
    how = (
        f"{t.sums} sums + {t.fragments} in fragments + about {OTHER_REGISTERS} for addresses: an "
        f"estimate, the compiler decides; {blocks} an SM leave {most}"
    )
    if t.min_blocks * t.threads > gpu.threads:
        how += f" ({blocks} cannot be, so the compiler ignores it)"
    if needed > most:
        how += f", {needed - most} too few: the rest spills"
    return Fact("Registers a thread", f"about {about}", how, None, needed > most)


def _occupancy(found: Occupancy, gpu: Limits) -> Fact:
    allowed = ", ".join(f"{name} {count}" for name, count in found.allowed.items())
    by = " and ".join(found.limited_by)
    if not found.blocks:
        how = f"no block fits: too much of {by}. Blocks by {allowed}"
    else:
        total = gpu.threads // 32
        share = percent(found.warps / total)
        how = f"{found.warps} of {total} warps ({share}), limited by {by}. Blocks by {allowed}"
    return Fact("Blocks on an SM", number(found.blocks), how, bad=not found.blocks)


def _pace(t: Tiling, gpu: Limits) -> list[Fact]:
    """The two pipes for one k of a warp; the longer one sets the pace."""
    parts = []
    for matrix in "AB":
        count, each = t.loads(matrix)
        parts.append(f"{matrix} {number(count)} x {each}")
    shared, fmas = t.wavefronts("A") + t.wavefronts("B"), t.sums / gpu.fma_warps
    most = max(shared, fmas)
    slow = f": sets the pace, FMAs at most {percent(fmas / shared)} of the time"
    fast = f": sets the pace, shared memory is busy {percent(shared / fmas)} of the time"
    loads = f"loads x wavefronts: {' + '.join(parts)}"
    return [
        Fact(
            "Wavefronts of a warp for one k",
            number(shared),
            loads + slow * (shared > fmas),
            shared / most,
        ),
        Fact(
            "Cycles of its FMAs",
            number(fmas),
            f"{t.sums} FMAs, {gpu.fma_warps} a cycle{fast * (fmas >= shared)}",
            fmas / most,
        ),
    ]


def _stores(t: Tiling) -> Fact:
    found, least = t.store_sectors()
    used = "every byte is used" if found == least else f"{least} would do"
    kind = _VECTORS[vector(t.TN)]
    return Fact("Sectors of a store of C", f"{found}", f"{kind} by 32 lanes: {used}")


def _grid(t: Tiling, found: Occupancy, gpu: Limits, size: int) -> list[Fact]:
    rows, cols = -(-size // t.BM), -(-size // t.BN)
    grid = Fact(
        "Blocks of the grid", number(rows * cols), f"{rows} x {cols} for {size:,} x {size:,}"
    )
    if not found.blocks:
        return [grid, Fact("Waves", "none", "no block fits")]
    run = waves(rows * cols, found.blocks, gpu.sms)
    idle = gpu.sms - run.blocks
    how = (
        f"{number(run.slots)} blocks at a time on {gpu.sms} SMs; the last wave is "
        f"{percent(run.last / run.slots)} full, all together {percent(run.efficiency)}"
    )
    if idle > 0:
        how += f"; {idle} SMs have no block at all"
    return [grid, Fact("Waves", number(run.waves), how)]


def describe(t: Tiling, thread: int) -> str:
    """A thread in words: where it stands, what it owns, copies and stores."""
    rows = _runs("row", t.row_runs(thread), t.TM)
    columns = _runs("column", t.column_runs(thread), t.TN)
    wide = vector(t.TN)
    stores = t.stores(thread)
    copied = [_pieces(name, t.copies(thread, name), 4, 4) for name in "AB"]
    copied = [text for text in copied if text]
    copies = f"Copies {' and '.join(copied)}." if copied else "Copies nothing."
    return (
        f"Thread {thread} (warp {thread // 32}, lane {thread % 32}): {rows}, {columns}. {copies} "
        f"Stores {_pieces('C', stores, wide, 3)}."
    )


def _runs(noun: str, starts: Sequence[int], length: int) -> str:
    """ "rows 8 to 15 and 24 to 31"."""
    each = [f"{s} to {s + length - 1}" if length > 1 else f"{s}" for s in starts]
    plural = "s" if length * len(starts) > 1 else ""
    head = f"{', '.join(each[:-1])} and " if each[1:] else ""
    return f"{noun}{plural} {head}{each[-1]}"


def _pieces(name: str, starts: Sequence[tuple[int, int]], wide: int, most: int) -> str:
    """ "A[9][4..7], A[73][4..7]", the first ones of many."""
    last = "..{0}]" if wide > 1 else "]"
    shown = [f"{name}[{m}][{n}{last.format(n + wide - 1)}" for m, n in starts[:most]]
    more = f", ... ({len(starts)} {_VECTORS[wide]})" if len(starts) > most else ""
    return ", ".join(shown) + more
