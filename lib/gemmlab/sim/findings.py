"""What the simulator found wrong with a kernel, as sentences that say what to do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

# The place of a program counter: file, line, text of the line. None if it is not known.
LineOf = Callable[[int], tuple[str, int, str] | None]


class RawFinding(ctypes.Structure):
    """runtime/findings.h's Finding."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("kind", "pc", "other_pc", "block", "thread")),
        ("reserved", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
        ("number", ctypes.c_int64 * 4),
        ("name", ctypes.c_char_p),
        ("other_name", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class Finding:
    """One mistake of a kernel.

    kind: "race", "uninitialised-read", "out-of-bounds", "misaligned", "divergent-barrier",
    "divergent-collective", "deadlock", "stack-overflow", "division-by-zero" or "cancelled".
    file, line: where; other_file, other_line: the other side, None if there is none.
    count: how often it was seen. fatal: whether a block could not go on.
    """

    kind: str
    message: str
    file: str | None
    line: int | None
    other_file: str | None = None
    other_line: int | None = None
    count: int = 1
    fatal: bool = False

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file else ""
        return f"{where}{self.kind}: {self.message}"


class Findings(tuple):
    """The findings of one run: a tuple of Finding that reads as a list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no findings"

    def _repr_html_(self) -> str:
        from .view import findings_html

        return findings_html(self)


def explain(raw: Iterable[RawFinding], line_of: LineOf) -> list[Finding]:
    """Findings by source line, those of equal kind and lines added up, in a fixed order."""
    merged: dict[tuple, Finding] = {}
    for row in sorted(raw, key=lambda r: (r.block, r.thread, r.kind, r.pc, r.other_pc)):
        finding = _explain_one(row, line_of)
        key = (finding.kind, finding.fatal, *_place(finding))
        known = merged.get(key)
        merged[key] = replace(known, count=known.count + finding.count) if known else finding
    return sorted(merged.values(), key=lambda f: (*_place(f), f.kind, f.message))


def _place(finding: Finding) -> tuple:
    return (
        *(finding.file or "", finding.line or 0),
        *(finding.other_file or "", finding.other_line or 0),
    )


def _explain_one(row: RawFinding, line_of: LineOf) -> Finding:
    slug, fatal, sentence = _KINDS[row.kind]
    places = [(line_of(pc) or (None, None))[:2] for pc in (row.pc, row.other_pc)]
    if sentence is _race_write_write:  # two sides of one kind: one order, whoever came first
        places.sort(key=lambda place: (place[0] or "", place[1] or 0))
    (file, line), (other_file, other_line) = places
    other = f"line {other_line}" if other_file == file else f"{other_file}:{other_line}"
    text = sentence(row, f"line {line}", other)
    message = text[0].upper() + text[1:]
    return Finding(slug, message, file, line, other_file, other_line, row.count, fatal)


def _name(text: bytes | None) -> str:
    return text.decode() if text else "?"


def _who(row: RawFinding) -> str:
    return f"thread {row.thread} of block {row.block}"


def _does(row: RawFinding) -> str:
    verb = "writes" if row.number[1] else "reads"
    return f"{_who(row)} {verb} {_bytes(row.number[0])}"


def _bytes(count: int) -> str:
    return f"{count} byte{'s' if count != 1 else ''}"


def _lanes(count: int) -> str:
    return f"{count} lane{'s' if count != 1 else ''}"


def _race_read_write(row: RawFinding, line: str, other: str) -> str:
    if line == other:
        return (
            f"{line} reads shared memory that another thread writes there, and no barrier orders "
            "the two; read into a register, then __syncthreads(), then write"
        )
    return (
        f"{line} writes shared memory that {other} reads in another thread, and no barrier orders "
        "the two; put __syncthreads() between them, and at the end of a loop that holds both"
    )


def _race_write_write(row: RawFinding, line: str, other: str) -> str:
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
    what = "ABC"[number] if 0 <= number < 3 else "the nearest buffer"
    where = f"{past} past the end" if past > 0 else f"{-past} before the start"
    return (
        f"{_does(row)}, {where.replace(' ', ' bytes ', 1)} of {what}; correct the index, or guard "
        "the access with a comparison"
    )


def _outside_array(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_does(row)} of shared memory outside of every __shared__ array; correct the index, or "
        "make the array larger"
    )


def _outside_index(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_who(row)} uses index {row.number[0]} in an array of type {_name(row.name)}; correct "
        "the index, or make the array larger"
    )


def _misaligned(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_does(row)} at an address {row.number[2]} past a multiple of {row.number[0]}; use a "
        f"narrower access, or make row lengths and offsets multiples of {_bytes(row.number[0])}"
    )


def _divergent_barrier(row: RawFinding, line: str, other: str) -> str:
    if row.other_pc:
        return (
            f"some threads of a block wait at {line}, others at {other}; move __syncthreads() out "
            "of the branch, so that all threads reach the same one"
        )
    return (
        f"{row.number[0]} threads of a block returned before the __syncthreads() of {line}; let "
        "every thread reach it, and guard the work between barriers instead"
    )


def _divergent_collective(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_lanes(row.number[0])} of a warp wait in {_name(row.name)} at {line} for "
        f"{_lanes(row.number[1])} that wait in {_name(row.other_name)} at {other}; let all lanes "
        "that the mask names reach the same call, or name fewer"
    )


def _deadlock(row: RawFinding, line: str, other: str) -> str:
    return (
        f"nobody can go on: {_lanes(row.number[0])} of a warp wait in {_name(row.name)} at {line} "
        f"for {_lanes(row.number[1])} that wait in {_name(row.other_name)} at {other}; let the "
        "lanes meet in one before any goes to the other"
    )


def _inactive_source(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_name(row.name)} reads from lane {row.number[0]}, which takes no part in it, so the "
        "value is undefined; let every lane reach the call, and name it in the mask"
    )


def _not_in_mask(row: RawFinding, line: str, other: str) -> str:
    return (
        f"lane {row.number[0]} calls {_name(row.name)} with a mask that leaves it out; pass "
        "0xffffffff, or a mask with the lane's own bit"
    )


def _bad_address(row: RawFinding, line: str, other: str) -> str:
    return (
        f"{_who(row)} uses an address outside of every matrix and array, or one that is no "
        "multiple of the access; correct the index (a trace says by how much)"
    )


def _stack_overflow(row: RawFinding, line: str, other: str) -> str:
    return (
        f"the local arrays of {_who(row)} do not fit in the simulator's 56 KiB for each; make "
        "them smaller (on a GPU they would not fit in registers either)"
    )


def _division_by_zero(row: RawFinding, line: str, other: str) -> str:
    return f"{_who(row)} divides an integer by zero; check the divisor"


def _cancelled(row: RawFinding, line: str, other: str) -> str:
    return "the run was interrupted; its counts are incomplete, so run it again"


# runtime/findings.h's Kind, in its order: slug, fatal, sentence.
_KINDS = (
    ("race", False, _race_read_write),
    ("race", False, _race_write_write),
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
)
