"""The sentences of findings: what is wrong, between whom, and what to do about it."""

from __future__ import annotations

from ..abi import RawFinding

# Nothing is mapped below: a small address is an index into nothing.
_NULL_PAGES = 2**32
_FLOAT = 4  # bytes
_WARP = 32
_LAUNCHER, _INITIALISER, _PROGRAM = 1, 2, 3  # runtime/order/findings.h's Role


def name(text: bytes | None) -> str:
    """A name that the runtime gave."""
    return text.decode() if text else "?"


def who(row: RawFinding) -> str:
    """The thread, or the code of the host, that a finding is about."""
    if row.role == _LAUNCHER:
        return "the launcher"
    if row.role == _PROGRAM:
        return "the program's host code"
    if row.role == _INITIALISER:
        return "the initializer of a variable, which runs when the kernel is loaded,"
    return f"thread {row.thread} of block {row.block}"


def placed(thread: int, block: int) -> str:
    """A thread with its warp and its lane."""
    return f"thread {thread} of block {block} (warp {thread // _WARP}, lane {thread % _WARP})"


def does(row: RawFinding) -> str:
    """Who reads or writes how much."""
    verb = "writes" if row.number[1] else "reads"
    return f"{who(row)} {verb} {count_bytes(row.number[0])}"


def count_bytes(count: int) -> str:
    """A number of bytes, as words."""
    return f"{count} byte{'s' if count != 1 else ''}"


def lanes(count: int) -> str:
    """A number of lanes, as words."""
    return f"{count} lane{'s' if count != 1 else ''}"


def _race_read_write(row: RawFinding, line: str, other: str) -> str:
    if line == other:
        return (
            f"{line} reads shared memory that another thread writes there, and no barrier orders "
            "the two; read into a register, then __syncthreads(), then write"
        )
    what = f"{line} writes shared memory that {other} reads in another thread, and"
    if row.number[0]:
        return (
            f"{what} a flag has told of the write, but no fence follows it; call "
            "__threadfence_block() after the loop that polls the flag, before the read"
        )
    return (
        f"{what} no barrier orders the two; put __syncthreads() between them, and at the end of a "
        "loop that holds both"
    )


def race_write_write(row: RawFinding, line: str, other: str) -> str:
    """Two sides that are alike."""
    where = f"{line} writes" if line == other else f"{line} and {other} write"
    return (
        f"{where} the same shared memory from different threads, and no barrier orders them; "
        "give each thread elements of its own, or put __syncthreads() between the writes"
    )


def _uninitialised(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{line} reads shared memory that no thread of the block has written; write it first, and "
        "put __syncthreads() before the read"
    )


def _outside_buffer(row: RawFinding, line: str, other: str) -> str:
    number, past = row.number[2], row.number[3]
    names = ("A", "B", "C", "the workspace")
    what = names[number] if 0 <= number < len(names) else "the nearest buffer"
    what = name(row.other_name) if row.other_name else what
    where = f"{past} past the end" if past > 0 else f"{-past} before the start"
    return (
        f"{does(row)}, {where.replace(' ', ' bytes ', 1)} of {what}; correct the index, or guard "
        "the access with a comparison"
    )


def _outside_array(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{does(row)} of shared memory outside of every __shared__ array; correct the index, or "
        "make the array larger"
    )


def _outside_index(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} uses index {row.number[0]} in an array of type {name(row.name)}; correct "
        "the index, or make the array larger"
    )


def _misaligned(row: RawFinding, line: str, other: str) -> str:
    width, _, past, is_shared = row.number
    floats = width // _FLOAT
    swizzled = (
        f", also what is XORed to the column of a swizzled array: {floats} floats "
        f"or {2 * floats} halves move together"
    )
    return (
        f"{does(row)} at an address {past} past a multiple of {width}; use a narrower access, or "
        f"make row lengths and offsets multiples of {count_bytes(width)}"
        f"{swizzled if is_shared and floats > 1 else ''}"
    )


def _divergent_barrier(row: RawFinding, line: str, other: str) -> str:
    if row.other_pc:
        return (
            f"some threads of a block wait at {line}, others at {other}; move the barrier out "
            "of the branch, so that all threads reach the same one"
        )
    return (
        f"{row.number[0]} threads of a block returned before the barrier of {line}; let "
        "every thread reach it, and guard the work between barriers instead"
    )


def _divergent_collective(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{lanes(row.number[0])} of a warp wait in {name(row.name)} at {line} for "
        f"{lanes(row.number[1])} that wait in {name(row.other_name)} at {other}; let all lanes "
        "that the mask names reach the same call, or name fewer"
    )


def _deadlock(row: RawFinding, line: str, other: str) -> str:
    return (
        f"nobody can go on: {lanes(row.number[0])} of a warp wait in {name(row.name)} at {line} "
        f"for {lanes(row.number[1])} that wait in {name(row.other_name)} at {other}; let the "
        "lanes meet in one before any goes to the other"
    )


def _inactive_source(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{name(row.name)} reads from lane {row.number[0]}, which takes no part in it, so the "
        "value is undefined; let every lane reach the call, and name it in the mask"
    )


def _not_in_mask(row: RawFinding, line: str, other: str) -> str:
    return (
        f"lane {row.number[0]} calls {name(row.name)} with a mask that leaves it out; pass "
        "0xffffffff, or a mask with the lane's own bit"
    )


def _bad_address(row: RawFinding, line: str, other: str) -> str:
    address, is_known = row.number[0], row.number[1]
    if is_known and 0 <= address < _NULL_PAGES:
        return (
            f"{who(row)} uses a null pointer (address {address:#x}); check what the launcher "
            "passes to the kernel"
        )
    return (
        f"{who(row)} uses an address outside of every matrix and array, or one that is no "
        "multiple of the access; correct the index (a trace says by how much)"
    )


def _stack_overflow(row: RawFinding, line: str, other: str) -> str:
    if row.role:
        return f"{who(row)} calls itself without end, or has local arrays that are too large"
    return (
        f"the local arrays of {who(row)} do not fit in the simulator's 56 KiB for each, or a "
        "function calls itself without end; make them smaller (on a GPU they would not fit in "
        "registers either)"
    )


def _division_by_zero(row: RawFinding, line: str, other: str) -> str:
    return f"{who(row)} divides an integer by zero; check the divisor"


def _long_loop(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{who(row)} has been in a loop at {line} for {row.number[0] / 1000:g} s, in which atomics "
        "still change memory: whether it ends is not known, and the launch was stopped. Let the "
        "loop do less, or give it longer (GEMMLAB_SIM_BUDGET_S sets the seconds)"
    )


def _endless_loop(row: RawFinding, line: str, other: str) -> str:
    if row.role == _INITIALISER:
        return f"{who(row)} is in a loop without end; let the loop end"
    if row.role:
        return (
            f"{who(row)} is in a loop without end: for {row.number[0] / 1000:g} s it has launched "
            "nothing. Let the loop end (GEMMLAB_SIM_BUDGET_S sets the seconds)"
        )
    return (
        f"{who(row)} is in a loop without end at {line}: for {row.number[0] / 1000:g} s no "
        "thread of its block has returned or passed a barrier. Let the loop end; if it polls what "
        "another thread writes, wait with __syncthreads(), __syncwarp() or an mbarrier instead, "
        "since here a thread runs until it waits (GEMMLAB_SIM_BUDGET_S sets the seconds)"
    )


def _launcher_fault(row: RawFinding, line: str, other: str) -> str:
    if row.role == _PROGRAM:
        return (
            f"{who(row)} uses an address that is no memory of the host; what cudaMalloc gives is "
            "the device's: copy it with cudaMemcpy, or allocate it with cudaMallocManaged"
        )
    if row.role == _INITIALISER:
        return f"{who(row)} uses an address that is no memory; check its pointers"
    return (
        "the launcher, which runs on the host, uses an address that is no memory; A, B and C are "
        "the device's, and threadIdx and its relatives exist in kernels only"
    )


def _assertion(row: RawFinding, line: str, other: str) -> str:
    what = name(row.name)
    stopped = "stops itself with __trap()" if what == "__trap()" else f"fails assert({what})"
    return f"{who(row)} {stopped}; look at what leads there"


def _ended(row: RawFinding, line: str, other: str) -> str:
    if row.role == _PROGRAM:
        return f"{who(row)} ends itself by {name(row.name)}; look at what leads there"
    remedy = "return a cudaError_t" if row.role == _LAUNCHER else "return"
    if (call := name(row.name)) == "abort()":
        call += ", or the C library would, because memory is damaged"
    return f"{who(row)} would end the whole process, by {call}; let it {remedy} instead"


def _thrown(row: RawFinding, line: str, other: str) -> str:
    what = f"throws {name(row.name)}" if row.name else "ends in std::terminate"
    if row.role == _PROGRAM:
        return f"{who(row)} {what}, and nobody catches it; catch it in main()"
    if row.role:
        return f"{who(row)} {what}, and nobody catches it; let it return a cudaError_t"
    return f"{who(row)} {what}, and a kernel has no exceptions; let it write what went wrong to C"


def _many_launches(row: RawFinding, line: str, other: str) -> str:
    return (
        f"the launcher is in a loop without end: it has launched {row.number[0]:,} kernels. Let "
        "the loop end, or let a kernel do more"
    )


def _cancelled(row: RawFinding, line: str, other: str) -> str:
    return "the run was interrupted; its counts are incomplete, so run it again"


# runtime/order/findings.h's Kind, in its order: slug, fatal, sentence.
KINDS = (
    ("race", False, _race_read_write),
    ("race", False, race_write_write),
    ("uninitialised-read", False, _uninitialised),
    ("out-of-bounds", True, _outside_buffer),
    ("out-of-bounds", True, _outside_array),
    ("out-of-bounds", True, _outside_index),
    ("misaligned", True, _misaligned),
    ("divergent-barrier", False, _divergent_barrier),
    ("divergent-collective", True, _divergent_collective),
    ("divergent-collective", False, _inactive_source),
    ("divergent-collective", True, _not_in_mask),
    ("deadlock", True, _deadlock),
    ("out-of-bounds", True, _bad_address),
    ("stack-overflow", True, _stack_overflow),
    ("division-by-zero", True, _division_by_zero),
    ("cancelled", True, _cancelled),
    ("endless-loop", True, _endless_loop),
    ("launcher", True, _launcher_fault),
    ("assertion", True, _assertion),
    ("ended", True, _ended),
    ("exception", True, _thrown),
    ("endless-loop", True, _many_launches),
    ("long-loop", True, _long_loop),
)
