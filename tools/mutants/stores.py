"""Operator that takes a store away: what is read then is what the shared memory held before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .code import Code, Span
from .draft import Draft, drafts

_STORE = re.compile(r"store[248]|stmatrix_x\d(_trans)?")


def stores(code: Code) -> Iterator[Draft]:
    """Every statement that is a store of several elements, or an assignment to a shared array."""
    for call in code.calls:
        if _STORE.fullmatch(call.name) and code.is_statement(call.span):
            yield from drafts("remove store", code, call.span, "")
    arrays = set(_shared_arrays(code))
    for i in range(len(code)):
        if code.word(i) in arrays and code.word(i + 1) == "[":
            end = i
            while code.word(end + 1) == "[":
                end = code.partner[end + 1]
            if code.word(end + 1) != "=":
                continue
            span = Span(i, code.operand_right(end + 1, 0).last)
            if code.is_statement(span):
                yield from drafts("remove store", code, span, "")


def _shared_arrays(code: Code) -> Iterator[str]:
    """The names of arrays declared `__shared__`."""
    for i in range(len(code)):
        if code.word(i) == "__shared__":
            opening = next(j for j in range(i, len(code)) if code.word(j) in ("[", ";"))
            yield code.word(opening - 1)
