"""The sentences of findings about asynchronous operations: copies, barriers, tensor cores."""

from __future__ import annotations

from ..abi import RawFinding
from . import barriers, grid, wgmma
from .threads import name, who

# Of cp.async, whose copies are waited for by groups.
_WAIT, _COMMIT = "cp_async_wait<N>()", "call cp_async_commit() after the copies of a tile"


def _read_before_wait(row: RawFinding, line: str, other: str) -> str:
    if row.number[0]:
        return f"{line} reads global memory that {_under_way(row, other)} before it is read"
    fills = f"{line} reads shared memory that {name(row.name)} at {other} fills, and"
    if row.number[2]:
        return f"{fills} that copy is in no commit group; {_COMMIT}, and then wait for the copy"
    group = f" (a commit group: {_WAIT})" if row.name == b"cp.async" else ""
    return (
        f"{fills} {who(row)} has not waited for it; wait for the copy{group}, and let the threads "
        "that use it know by a barrier"
    )


def _write_before_wait(row: RawFinding, line: str, other: str) -> str:
    if row.number[0]:
        return f"{line} writes global memory that {_under_way(row, other)} before the next write"
    return (
        f"{line} writes shared memory that {name(row.name)} at {other} may still fill, so either "
        "value may stay; wait for the first before the second"
    )


def _under_way(row: RawFinding, other: str) -> str:
    """A store of the copy engine into global memory. number: true, the thread that started it."""
    return (
        f"{name(row.name)} at {other} need not have written yet; call bulk_wait<0>() (not "
        f"bulk_wait_read, which waits for shared memory only) in thread {row.number[1]}, which has "
        "started it, and let the others know by a barrier,"
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
    if row.number[0]:
        return (
            f"the block ends, and {name(row.name)} at {line} is in no commit group, so that no "
            f"{_WAIT} waits for it; {_COMMIT}, or leave it out if nobody uses it"
        )
    return (
        f"the block ends, and nobody has waited for {name(row.name)} at {line}; wait for it, or "
        f"leave it out if nobody uses it{_why_unfinished(row)}"
    )


def _why_unfinished(row: RawFinding) -> str:
    """What was waited for instead, if that is known."""
    _, left, announced, requested = row.number
    if requested:
        return (
            f"; a phase of its mbarrier ended too early: boxes of {requested} bytes were requested "
            f"in it, and only {announced} announced; let expect_tx name the bytes of all boxes"
        )
    if left:
        groups = "the newest group" if left == 1 else f"the newest {left} groups"
        return (
            f"; the last wait, cp_async_wait<{left}>(), leaves {groups} in flight: call "
            "cp_async_wait<0>() after the last copy"
        )
    return ""


def _stuck(row: RawFinding, line: str, other: str) -> str:
    if row.name in grid.POLLS:
        return grid.poll_without_end(row, line, other)
    missing = barriers.LACKS.get(row.name, _lacks)(row, other)
    return (
        f"nobody can go on: {who(row)} waits in {name(row.name)} at {line}{missing}; let every "
        "wait have its arrival"
    )


def _lacks(row: RawFinding, other: str) -> str:
    """What a stuck wait lacks, as its mechanism describes it in `other_name`."""
    return f" for {name(row.other_name)}" if row.other_name else ""


def _remote_after_exit(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} uses the shared memory of block {row.block} from another block, and nothing keeps "
        "that one from ending before; let all blocks of the cluster meet in cluster_sync() "
        "after the last such access"
    )


def _remote_unordered(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} uses the shared memory of another block of its cluster, which need not have "
        "started yet; call cluster_sync() before the first such access"
    )


def _remote_unreleased(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} reads what a thread of another block wrote at {other}, and the arrival that "
        "orders the two (mbarrier_arrive_remote) releases nothing to the cluster; let the writer "
        "arrive with mbarrier_arrive_cluster, or all meet in cluster_sync()"
    )


def _partial_warp(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} at {line} needs all 32 lanes of a warp, and only {row.number[0]} are "
        "there; let no lane return before it, and make the block's size a multiple of 32"
    )


def _partial_warpgroup(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} at {line} is executed by {row.number[0]} of the 4 warps of a "
        "warpgroup; let all four execute it, the same number of times"
    )


def _copy_size(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} copies {row.number[0]} bytes with {name(row.name)}, {row.number[1]} of them "
        "from the source; a copy has 4, 8 or 16 bytes, and from 0 to all of them come from the "
        "source"
    )


def _copy_source(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} copies with {name(row.name)} from an address that is not in global memory; "
        "pass a pointer into a matrix, or a source of 0 bytes where there is nothing to read"
    )


def _grid_dependency(row: RawFinding, line: str, other: str) -> str:
    does = "writes" if row.number[1] else "reads"
    return (
        f"{line} {does} global memory that an earlier grid writes, and this grid may begin before "
        f"that one has ended; call grid_dependency_wait() before, in {who(row)} or in one that it "
        "waits for"
    )


# runtime/order/findings.h's Kind from READ_BEFORE_WAIT on, in its order: slug, fatal, sentence.
KINDS = (
    ("read-before-wait", False, _read_before_wait),
    ("write-before-wait", False, _write_before_wait),
    ("overwrite-before-release", False, _overwritten_while_read),
    ("overwrite-before-release", False, _copy_overwrites),
    ("missing-fence", False, _missing_proxy_fence),
    ("unfinished", False, _unfinished),
    ("deadlock", True, _stuck),
    ("cluster-lifetime", False, _remote_after_exit),
    ("cluster-lifetime", False, _remote_unordered),
    ("race", False, _remote_unreleased),
    ("divergent-collective", True, _partial_warp),
    ("divergent-collective", False, _partial_warpgroup),
    ("copy-size", True, _copy_size),
    ("out-of-bounds", True, _copy_source),
    ("misaligned", True, barriers.misaligned_operand),
    ("misaligned", True, barriers.misaligned_column),
    ("bad-argument", True, barriers.bad_argument),
    ("bad-argument", True, barriers.bad_tensor_map),
    ("barrier-misuse", True, barriers.missing),
    ("barrier-misuse", False, barriers.initialised_twice),
    ("barrier-overrun", True, barriers.overrun),
    ("barrier-misuse", False, barriers.touched),
    ("race", False, barriers.unordered),
    ("missing-fence", False, barriers.unfenced),
    ("transaction-bytes", True, barriers.transaction_bytes),
    ("barrier-misuse", False, barriers.counts_differ),
    ("barrier-phase", False, barriers.ahead),
    ("barrier-phase", False, barriers.overtaken),
    ("read-before-wait", False, _grid_dependency),
    ("bad-descriptor", True, wgmma.descriptor),
    ("bad-descriptor", False, wgmma.descriptor),
    ("register-before-wait", False, wgmma.register_before_wait),
    ("missing-fence", False, wgmma.missing_register_fence),
    ("divergent-collective", True, wgmma.divergent),
)
