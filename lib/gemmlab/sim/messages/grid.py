"""The sentences of findings about global memory, and about blocks that wait for each other."""

from __future__ import annotations

from ..abi import RawFinding
from .threads import name, who

# What a loop that polls is called as a wait.
_POLLS_HOST = b"a loop that polls memory that the host can write"
POLLS = (b"a loop that polls global memory", b"a loop that polls shared memory", _POLLS_HOST)
_ELSEWHERE = "write this line without it, or run the program on a GPU"
_RELEASE = (
    "let the writer call __threadfence() after the access and then use an atomic, and the reader "
    "call __threadfence() after an atomic that has seen that one"
)


def _race_read_write(row: RawFinding, line: str, other: str) -> str:
    far, seen = row.number[0], row.number[1]
    whose = "another block" if far else "another thread of the block"
    if line == other:
        what = f"{line} writes global memory that it also reads in {whose}"
    else:
        what = f"{line} writes global memory that {other} reads in {whose}"
    return f"{what}, and {_advice(far, seen)}"


def race_write_write(row: RawFinding, line: str, other: str) -> str:
    """Two sides that are alike."""
    far, seen = row.number[0], row.number[1]
    where = f"{line} writes" if line == other else f"{line} and {other} write"
    whose = "different blocks" if far else "different threads of a block"
    return f"{where} the same global memory from {whose}, and {_advice(far, seen)}"


def _advice(far: int, seen: int) -> str:
    if not far:
        return (
            "no barrier orders the two; give each thread elements of its own, put __syncthreads() "
            "between them, or use atomics"
        )
    if seen:
        return (
            "an atomic has told of the first, but no fence follows it; call __threadfence() after "
            "that atomic, in every thread that goes on, and let a barrier stand between"
        )
    return (
        f"nothing orders the two; give each block memory of its own, or use atomics, or {_RELEASE}"
    )


def poll_without_end(row: RawFinding, line: str, other: str) -> str:
    """A loop that waits for a change, when nobody who could make it is left.

    number: blocks that have not started, groups of resident ones; of the block's threads those that
    have ended, and those that wait elsewhere, the first of them at `other`. Without such, `other`
    is what wrote there last, if that is known.
    """
    what = f" ({name(row.other_name)})" if row.other_name else ""
    return (
        f"nobody can go on: {who(row)} waits in {name(row.name)} at {line}{what} for a change that "
        f"nobody makes: {_others(row, other)}; {_before(row, other)}"
    )


def _others(row: RawFinding, other: str) -> str:
    """What becomes of all who could make the change."""
    not_started, resident, ended, elsewhere = row.number
    states = [f"{ended} {'has' if ended == 1 else 'have'} ended"] if ended else []
    if elsewhere:
        states.append(f"{elsewhere} {'waits' if elsewhere == 1 else 'wait'} at {other}")
    threads = f"of its block's threads {', '.join(states)}, all others poll"
    told = [threads if states else "all threads of its block poll"]
    if not_started:
        told.append(
            f"{resident} blocks or clusters are resident, all of them wait, and {not_started} have "
            "no room to start"
        )
    elif resident > 1:
        told.append(f"the {resident} blocks or clusters that have not ended all wait")
    if row.name == _POLLS_HOST:
        told.append("the host waits for the device, and has not written there")
    if row.other_pc and not elsewhere:
        told.append(f"{other} wrote there last")
    return "; ".join(told)


def _before(row: RawFinding, other: str) -> str:
    not_started, _, ended, elsewhere = row.number
    if not_started:
        return "let no block wait for one that may start after it, or launch fewer of them"
    if elsewhere:
        return f"let the thread that is to write it do so before it waits at {other}"
    return f"let the thread that is to write it do so before it {'ends' if ended else 'polls'}"


def barrier_lacks(row: RawFinding, other: str) -> str:
    """What the grid's barrier lacks. number: blocks that have come, blocks of the grid."""
    come, all_ = row.number[:2]
    return f", to which {come} of the grid's {all_} blocks have come; let every block call it"


def _not_simulated(row: RawFinding, line: str, other: str) -> str:
    what, _, remedy = name(row.name).partition(" | ")
    return (
        f"{line} needs what is not simulated: {what}. {who(row).capitalize()} was stopped there, "
        f"and the rest of the kernel was not run. To run it, {remedy or _ELSEWHERE}"
    )


def _unfilled_fragment(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} uses in {name(row.name)} an accumulator fragment that nothing has filled: it "
        "holds what was in the registers before; call wmma::fill_fragment(sum, 0.0f) before the "
        "loop over k"
    )


def _bad_free(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} gives back, by {name(row.name)}, an address that no kernel has allocated, or that "
        "was given back before; free each allocation once, on the side that has made it"
    )


# runtime/order/findings.h's Kind from GLOBAL_READ_WRITE on, in its order: slug, fatal, sentence.
KINDS = (
    ("race", False, _race_read_write),
    ("race", False, race_write_write),
    ("not-simulated", True, _not_simulated),
    ("uninitialised-read", False, _unfilled_fragment),
    ("bad-free", True, _bad_free),
)
