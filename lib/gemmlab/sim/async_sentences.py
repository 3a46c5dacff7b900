"""The sentences of findings about asynchronous operations: copies, barriers, tensor cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sentences import name, who

if TYPE_CHECKING:
    from .findings import RawFinding


def _read_before_wait(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} reads shared memory that {name(row.name)} at {other} fills, and {who(row)} has "
        "not waited for it; wait for the copy, and let the threads that use it know by a barrier"
    )


def _write_before_wait(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} writes shared memory that {name(row.name)} at {other} may still fill, so either "
        "value may stay; wait for the first before the second"
    )


def _overwritten_while_read(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} writes shared memory that {name(row.name)} at {other} may still read; wait until "
        "it has finished before the memory is used again"
    )


def _copy_overwrites(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} at {line} overwrites shared memory that {other} uses in another thread, "
        "and nothing orders the two; let the users of a buffer release it (a barrier that the "
        "copying thread waits for) before it is filled again"
    )


def _missing_proxy_fence(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} at {line} goes through the async proxy, to which the write of {other} "
        "need not be visible yet; call fence_proxy_async() after the writes, then a barrier, "
        "then start it"
    )


def _unfinished(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} at {line} is not waited for before the block ends; wait for it, or "
        "leave it out if nobody uses it"
    )


def _stuck(row: RawFinding, line: str, other: str) -> str:
    return (
        f"nobody can go on: {who(row)} waits in {name(row.name)} at {line}{_missing(row)}; let "
        "every wait have its arrival"
    )


def _missing(row: RawFinding) -> str:
    """What a stuck wait lacks, as its mechanism describes it in `other_name`."""
    return f" for {name(row.other_name)}" if row.other_name else ""


# runtime/findings.h's Kind from READ_BEFORE_WAIT on, in its order: slug, fatal, sentence.
KINDS = (
    ("read-before-wait", False, _read_before_wait),
    ("write-before-wait", False, _write_before_wait),
    ("overwrite-before-release", False, _overwritten_while_read),
    ("overwrite-before-release", False, _copy_overwrites),
    ("missing-fence", False, _missing_proxy_fence),
    ("unfinished", False, _unfinished),
    ("deadlock", True, _stuck),
)
