"""Constants that a kernel file declares, and where their values stand in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CONSTANT = re.compile(r"(?:\b(?:static|inline)\s+)*\bconstexpr\s+(\w[\w:\s]*?)\s+(?=\w+\s*=[^=])")
_DECLARATOR = re.compile(r"\s*(\w+)\s*=\s*")


@dataclass(frozen=True)
class Constant:
    """A declared constant: its type, where its value stands, and where the declaration does."""

    name: str
    type: str
    value: tuple[int, int]
    whole: tuple[int, int]


def read_constants(code: str) -> Iterator[Constant]:
    """Constants that a text without comments declares: constexpr int BM = 128, BN = 128;"""
    for start in _CONSTANT.finditer(code):
        parts, at = [], start.end()
        while match := _DECLARATOR.match(code, at):
            stop = _value_end(code, match.end())
            parts.append((match[1], (match.end(), stop)))
            at = stop + 1
            if code[stop : stop + 1] != ",":
                break
        if code[at - 1 : at] != ";":
            continue
        for name, (first, last) in parts:
            last = first + len(code[first:last].rstrip())
            yield Constant(name, " ".join(start[1].split()), (first, last), (start.start(), at))


def _value_end(code: str, at: int) -> int:
    """Where a value ends: at a semicolon, or at a comma before the next `NAME =`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        ends = code[i] == ";" or (code[i] == "," and _DECLARATOR.match(code, i + 1))
        if depth <= 0 and ends:
            return i
    return len(code)
