"""The sentences of findings about mbarriers, named barriers and the copy engine (TMA)."""

from __future__ import annotations

from ..abi import RawFinding
from . import grid
from .threads import count_bytes, name, placed, who


def misaligned_operand(row: RawFinding, line: str, other: str) -> str:
    """A shared address that an operation cannot take."""
    unit, past = row.number[0], row.number[1]
    return (
        f"{line} gives {name(row.name)} a shared address {past} past a multiple of "
        f"{count_bytes(unit)}; align the array with alignas({unit}), and keep the parts of it "
        f"multiples of {count_bytes(unit)}"
    )


def misaligned_column(row: RawFinding, line: str, other: str) -> str:
    """A column at which no box of the copy engine can begin."""
    column, element = row.number[0], row.number[1]
    return (
        f"{line} gives {name(row.name)} column {column}, byte {column * element} of a row and no "
        "multiple of 16, which a GPU answers with 'an illegal instruction was encountered'; start "
        f"the box at a multiple of 16 bytes, here {16 // element} elements"
    )


def bad_argument(row: RawFinding, line: str, other: str) -> str:
    """A number out of its range."""
    return f"{line} gives {name(row.name)} {row.number[0]} {name(row.other_name)}"


def bad_tensor_map(row: RawFinding, line: str, other: str) -> str:
    """An address of something else."""
    return (
        f"{line} gives {name(row.name)} an address at which no tensor map stands; pass the "
        "address of a `const __grid_constant__ CUtensorMap` parameter that "
        "cuTensorMapEncodeTiled has filled"
    )


def missing(row: RawFinding, line: str, other: str) -> str:
    """A use of no barrier."""
    return (
        f"{_thread(row)} calls {name(row.name)} at {line} with an address at which no mbarrier has "
        "been initialised; let one thread call mbarrier_init() on it (if (threadIdx.x == 0)), then "
        "all threads __syncthreads(), before the first use"
    )


def initialised_twice(row: RawFinding, line: str, other: str) -> str:
    """Two barriers at one address. number: the thread that has initialised the first."""
    again = f"{_thread(row)} initialises the mbarrier"
    if line == other and row.number[0] != row.thread:
        return (
            f"{again} at {line}, and so has thread {row.number[0]} there before; let one thread do "
            "it: if (threadIdx.x == 0)"
        )
    if line == other:
        return (
            f"{again} at {line}, which it has initialised there before; initialise it once, before "
            "the loop: a wait with the right parity, and no initialisation, begins its next phase"
        )
    return (
        f"{again} at {line} where that of {other} is; initialise each barrier once, before the "
        "loop, and give each 8 bytes of its own (to use its memory again, call mbarrier_inval() "
        "before)"
    )


def overrun(row: RawFinding, line: str, other: str) -> str:
    """An arrival too many. number: the count, the last thread to arrive, is it the same."""
    count, before, is_same = row.number[:3]
    has = f"{_thread(row)} arrives at {line} ({name(row.name)}) at the mbarrier of {other}, whose "
    has += f"phase already has its {_arrivals(count)}"
    if row.early.pc:
        return has
    if not is_same:
        return (
            f"{has}, the last by thread {before}; let only so many threads arrive as mbarrier_init "
            "counts (if (threadIdx.x == 0) for one), or let it count all that arrive in a phase"
        )
    return (
        f"{has}; it arrived last itself, and has not waited for that phase to end. Look first at "
        "the wait before the arrival: one for the wrong parity returns while the phase lasts. If "
        "the phase is to have both arrivals, let mbarrier_init count them"
    )


def returned_early(row: RawFinding) -> str:
    """What is wrong with the wait that has returned at once and so explains another finding."""
    early = row.early
    which, parity = early.phase, early.phase % 2
    thread = placed(early.thread, row.block)
    if which < 0:
        return (
            f"has returned at once: {thread} waits there for parity 1 in the first "
            "phase of its mbarrier, which has parity 0. Where a thread waits for every phase, let "
            "its first wait at each mbarrier have parity 0, and the parity change after each wait"
        )
    return (
        f"has returned at once: {thread} waits there for parity {parity} again, "
        f"and that is the parity of phase {which}, which is over, where phase {which + 1} has "
        f"parity {1 - parity}. Where a thread waits for every phase, let its parity change after "
        "each wait at the same mbarrier (parity ^= 1)"
    )


def touched(row: RawFinding, line: str, other: str) -> str:
    """A barrier is no number."""
    return (
        f"{_thread(row)} accesses at {line} the bytes of the mbarrier of {other}, whose value is "
        "opaque; use the mbarrier functions, and keep other data out of its 8 bytes"
    )


def unordered(row: RawFinding, line: str, other: str) -> str:
    """A barrier that another thread may not have initialised yet."""
    return (
        f"{line} uses the mbarrier that {other} initialises in another thread, and nothing orders "
        "the two; put __syncthreads() (in a cluster cluster_sync()) after the initialisation"
    )


def unfenced(row: RawFinding, line: str, other: str) -> str:
    """A barrier that the copy engine may not see.

    It accesses an mbarrier through the generic proxy, so that within a block __syncthreads() after
    the initialisation is enough. PTX says so from version 9.3 on, and nothing about it before; for
    other blocks of the cluster the fence is what makes the initialisation visible.
    """
    return (
        f"{line} lets the copy engine signal the mbarrier of {other}, whose initialisation it need "
        "not see; call fence_mbarrier_init() in the same thread after mbarrier_init(), then "
        "__syncthreads()"
    )


def transaction_bytes(row: RawFinding, line: str, other: str) -> str:
    """A phase that has its arrivals, but not its bytes."""
    return (
        f"{who(row)} waits in {name(row.name)} at {line}{mbarrier_lacks(row, other)}; let "
        "expect_tx name the bytes of all boxes that are copied in one phase, out-of-bounds parts "
        "included"
    )


def counts_differ(row: RawFinding, line: str, other: str) -> str:
    """One barrier, two numbers of threads."""
    return (
        f"{_thread(row)} comes at {line} to a barrier for {row.number[0]} threads, which for "
        f"{other} is to have {row.number[1]}; give every call of one barrier the same number"
    )


def ahead(row: RawFinding, line: str, other: str) -> str:
    """A wait that skips a phase."""
    phase = row.number[0]
    return (
        f"{line} waits for phase {phase} of the mbarrier of {other} by its parity, and {who(row)} "
        f"need not know that phase {phase - 1} is over; while it is not, the wait returns at once. "
        "Let the thread wait for every phase, or for a thread that has"
    )


def overtaken(row: RawFinding, line: str, other: str) -> str:
    """A wait whose phase may be the last but one when it looks."""
    phase = row.number[0]
    which = f"phase {phase}" if phase >= 0 else "the phase before the first"
    return (
        f"{line} waits for {which} of the mbarrier of {other} by its parity, and phase {phase + 1} "
        f"may be over before {who(row)} has looked; then the wait is for phase {phase + 2}, which "
        "may never end. Let what completes a phase wait for all who wait for the one before"
    )


def mbarrier_lacks(row: RawFinding, other: str) -> str:
    """What the phase of an mbarrier lacks. number: arrivals, bytes expected, bytes come, phase."""
    arrivals, expected, come, phase = row.number
    where = f" for phase {phase} of the mbarrier of {other}"
    if arrivals:
        return f"{where}, which lacks {_arrivals(arrivals)}"
    short = expected - come
    return (
        f"{where}: its tx-count is {count_bytes(abs(short))} {'short' if short > 0 else 'over'}: "
        f"expected {expected}, {come} arrived"
    )


def _named_barrier_lacks(row: RawFinding, other: str) -> str:
    """What a named barrier lacks. number: its number, threads that have come, threads awaited."""
    barrier, come, wanted = row.number[:3]
    return f" for barrier {barrier}, to which {come} of {wanted} threads have come"


def _thread(row: RawFinding) -> str:
    return placed(row.thread, row.block)


def _arrivals(count: int) -> str:
    return f"{count} arrival{'s' if count != 1 else ''}"


# By the name of a wait, what a stuck one lacks.
LACKS = {
    b"mbarrier_wait": mbarrier_lacks,
    b"bar_sync": _named_barrier_lacks,
    b"grid.sync()": grid.barrier_lacks,
}
