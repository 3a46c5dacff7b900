"""Operators on what guards an access: a comparison that lets one more in, a condition left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .code import BINDING, Code, Span
from .draft import Draft, drafts

# Sizes that an index is compared with, and constants, on which a condition is not decided at run
# time.
_SIZE = re.compile(r"M|N|rows|cols|columns|height|width")
_CONSTANT = re.compile(r"[A-Z][A-Z_]+")


def guards(code: Code) -> Iterator[Draft]:
    """Of every condition on sizes, each `<` as `<=`, and each `&&` and `||` without one side."""
    for condition in _conditions(code):
        words = {code.word(i) for i in range(condition.first, condition.last + 1)}
        if not any(map(_SIZE.fullmatch, words)) or any(map(_CONSTANT.fullmatch, words)):
            continue
        for i in range(condition.first, condition.last + 1):
            word = code.word(i)
            if word == "<" and _SIZE.fullmatch(code.word(code.operand_right(i, BINDING["<"]).last)):
                yield from drafts("guard", code, Span(i, i), "<=")
            elif word in ("&&", "||"):
                sides = code.operand_left(i, BINDING[word]), code.operand_right(i, BINDING[word])
                whole = Span(sides[0].first, sides[1].last)
                yield from drafts("guard", code, whole, *map(code.source, sides))


def _conditions(code: Code) -> Iterator[Span]:
    """What an `if` asks, and what a `bool` is set to; not what is decided at compile time."""
    for i in range(len(code)):
        if code.word(i) == "if" and code.word(i + 1) == "(":
            yield Span(i + 2, code.partner[i + 1] - 1)
        elif code.word(i) == "=" and code.word(i - 2) == "bool" and code.word(i - 3) != "constexpr":
            yield code.operand_right(i, 0)
