"""Operator on functions that say who does what: a number in what they return is off by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .code import Code, Span
from .draft import Draft, drafts

# Swizzles and parities have operators of their own, and a launch is no owner.
_OTHERS = re.compile(r"\^|<<|>>|&|launch\w*")


def owners(code: Code) -> Iterator[Draft]:
    """Every whole number in a `return` that divides, one more and one less."""
    for i in range(len(code)):
        if code.word(i) != "return":
            continue
        value = _value(code, i)
        words = [code.word(j) for j in range(value.first, value.last + 1)]
        if not {"/", "%"} & set(words) or any(map(_OTHERS.fullmatch, words)):
            continue
        for j in range(value.first, value.last + 1):
            if code.kind(j) == "number" and code.word(j).isdigit():
                number = int(code.word(j))
                yield from drafts("owner", code, Span(j, j), str(number + 1))
                if number > 0:
                    yield from drafts("owner", code, Span(j, j), str(number - 1))


def _value(code: Code, i: int) -> Span:
    """What stands between `return` and its `;`."""
    end = i + 1
    while code.word(end) != ";":
        end = code.partner[end] + 1 if code.word(end) in ("(", "[", "{") else end + 1
    return Span(i + 1, end - 1)
