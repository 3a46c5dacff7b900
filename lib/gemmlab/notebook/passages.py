"""Passages of a `%%kernel` cell: what stands between `// [dot]` and `// [/dot]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import ArgumentError
from ..steps.cuda_text import line_at

FIRST = 2  # the cell's first line is `%%kernel ...`, its text begins on the second

_MARK = re.compile(r"^\s*//\s*\[\s*(/?)\s*(\w+)\s*\]\s*$")


@dataclass(frozen=True)
class Passage:
    """Lines of the cell between two marks, which stand at `start - 1` and `stop` (from 0)."""

    name: str
    start: int
    stop: int


def read_passages(lines: Sequence[str]) -> list[Passage]:
    """The outermost passages of a cell. Raises ArgumentError for a mark without its partner."""
    found: list[Passage] = []
    opened: list[Passage] = []
    names: set[str] = set()
    for i, line in enumerate(lines):
        if not (match := _MARK.match(line)):
            continue
        closing, name = match.groups()
        if not closing:
            if name in names:
                raise ArgumentError(f"{at(i)}: [{name}] stands in the cell twice; keep one")
            names.add(name)
            opened.append(Passage(name, i + 1, i + 1))
        elif opened and opened[-1].name == name:
            last = opened.pop()
            if not opened:
                found.append(Passage(name, last.start, i))
        else:
            raise ArgumentError(f"{at(i)}: // [/{name}] closes nothing: {_open(opened, name)}")
    if opened:
        name, i = opened[-1].name, opened[-1].start - 1
        raise ArgumentError(f"{at(i)}: // [{name}] is not closed; end it with // [/{name}]")
    return found


def _open(opened: list[Passage], name: str) -> str:
    if not opened:
        return f"no // [{name}] stands above it"
    return f"[{opened[-1].name}] is open, since line {opened[-1].start - 1 + FIRST}"


def canonical(line: str) -> str:
    """A mark as kernel files have it."""
    margin = line[: len(line) - len(line.lstrip())]
    return _MARK.sub(rf"{margin}// [\1\2]", line)


def at(i: int) -> str:
    """A line of the cell, counted from 0 below `%%kernel`, in words."""
    return f"line {i + FIRST} of the cell"


def at_offset(code: str, offset: int) -> str:
    """The line of the cell in which a character of its text stands, in words."""
    return at(line_at(code, offset) - 1)
