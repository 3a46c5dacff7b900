"""What the simulator found wrong with a kernel, as sentences that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .abi import LineOf, RawFinding
from .messages import asynchronous, barriers, grid, threads

# runtime/order/findings.h's Kind, in its order: slug, fatal, sentence.
KINDS = (*threads.KINDS, *asynchronous.KINDS, *grid.KINDS)
_RACE, _EARLY = "race", "read-before-wait"
_TWICE = re.compile(r"^([^:]*): ([a-z-]+): (?=\1\b)", re.IGNORECASE)
_EXPLAINED = ". The wait of "  # barriers.returned_early behind a finding's own sentence
# Two sides of one kind: they stand in one order, whoever came first.
_SYMMETRIC = (threads.race_write_write, grid.race_write_write)


@dataclass(frozen=True)
class Finding:
    """One mistake of a kernel.

    kind: "race", "uninitialised-read", "out-of-bounds", "misaligned", "divergent-barrier",
    "divergent-collective", "deadlock", "endless-loop", "stack-overflow", "division-by-zero",
    "assertion", "launcher", "ended", "exception", "process", "cancelled", or of asynchronous
    operations those in sim/messages/asynchronous.py; and "uninitialised-variable" (unset.py).
    message: what happened, in one or two sentences.
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


def explain(raw: Iterable[RawFinding], line_of: LineOf) -> list[Finding]:
    """Findings by source line, those of equal kind and lines added up, in a fixed order."""
    merged: dict[tuple, Finding] = {}
    for row in sorted(raw, key=lambda r: (r.block, r.thread, r.kind, r.pc, r.other_pc)):
        finding = _explain_one(row, line_of)
        key = (finding.kind, finding.fatal, *_place(finding))
        known = merged.get(key)
        merged[key] = replace(known, count=known.count + finding.count) if known else finding
    return sorted(merged.values(), key=lambda f: (*_place(f), f.kind, f.message))


def told(findings: Iterable[Finding]) -> tuple[str, ...]:
    """As sentences: what ended the run first, then causes, then the races that come of them.

    A copy into a buffer that is still being read races with the read, and whoever reads on reads
    what the copy may already have brought. There the race is the cause.
    """
    known = list(findings)
    raced, early = (
        {_sides(found) for found in known if found.kind == kind} for kind in (_RACE, _EARLY)
    )

    def comes_of_another(found: Finding) -> bool:
        if found.kind == _EARLY:
            return _sides(found) in raced
        return found.kind == _RACE and _sides(found) not in early

    order = sorted(known, key=lambda found: (not found.fatal, comes_of_another(found)))
    return tuple(dict.fromkeys(map(str, explained_once(order))))


def explained_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The same without the wait that explains one, where a finding before has named it."""
    known = set[str]()
    for found in findings:
        said, _, why = found.message.partition(_EXPLAINED)
        yield replace(found, message=said) if why in known else found
        known |= {why} - {""}


def once(text: str) -> str:
    """A finding's sentence without the place in front, where the sentence itself begins with it."""
    return _TWICE.sub(r"\2: ", text)


def _own_pc(row: RawFinding, line_of: LineOf) -> int:
    """The innermost pc of the kernel's own file, if there are several, else the innermost."""
    pcs = [row.pc, *row.number[1:]] if row.role else [row.pc]
    # Only lines of the kernel's file come with their text.
    return next((pc for pc in pcs if (line_of(pc) or ("", 0, ""))[2]), row.pc)


def _place(finding: Finding) -> tuple:
    other = (finding.other_file or "", finding.other_line or 0)
    return finding.file or "", finding.line or 0, *other


def _sides(finding: Finding) -> frozenset:
    """The two places, whichever of them the finding names first."""
    here, there = (finding.file, finding.line), (finding.other_file, finding.other_line)
    return frozenset((here, there))


def _explain_one(row: RawFinding, line_of: LineOf) -> Finding:
    slug, fatal, sentence = KINDS[row.kind]
    places = [(line_of(pc) or (None, None))[:2] for pc in (_own_pc(row, line_of), row.other_pc)]
    if sentence in _SYMMETRIC:
        places.sort(key=lambda place: (place[0] or "", place[1] or 0))
    (file, line), (other_file, other_line) = places
    other = f"line {other_line}" if other_file == file else f"{other_file}:{other_line}"
    text = sentence(row, f"line {line}", other)
    message = text[0].upper() + text[1:]
    if row.early.pc and (early := line_of(row.early.pc)):
        where = f"line {early[1]}" if early[0] == file else f"{early[0]}:{early[1]}"
        message += f"{_EXPLAINED}{where} {barriers.returned_early(row)}"
    return Finding(slug, message, file, line, other_file, other_line, row.count, fatal)
