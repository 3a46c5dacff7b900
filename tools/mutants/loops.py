"""Operators on the bounds of loops that copy or synchronise: one round fewer, one more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .code import BINDING, Code, Span
from .draft import Draft, drafts
from .functions import copying_names
from .removals import synchronises


@dataclass(frozen=True)
class Loop:
    """A `for` loop over `variable`, in steps of `step`; `bound` is what `<` compares with."""

    variable: str
    step: str
    bound: Span
    body: Span


def loop_bounds(code: Code) -> Iterator[Draft]:
    """The bound of every such loop, and of every test for a next round in it, one step off."""
    names = copying_names(code)
    busy = [c.span.first for c in code.calls if synchronises(c) or c.name in names]
    busy_loops = [loop for loop in loops(code) if _holds_any(loop.body, busy)]
    for loop in busy_loops:
        forms = (f"({{}}) - {loop.step}", f"({{}}) + {loop.step}")
        yield from drafts("loop bound", code, loop.bound, *forms)
    for test, body in _tests(code):
        inside = [loop for loop in busy_loops if loop.body.first <= test.first <= loop.body.last]
        if not inside or not _holds_any(body, busy):
            continue
        for i in range(test.first, test.last + 1):
            if code.word(i) not in ("<", "<="):
                continue
            left, right = (code.operand_left(i, BINDING["<"]), code.operand_right(i, BINDING["<"]))
            words = {code.word(j) for j in range(left.first, left.last + 1)}
            for loop in inside[-1:]:
                if loop.variable in words:
                    forms = (f"({{}}) - {loop.step}", f"({{}}) + {loop.step}")
                    yield from drafts("loop bound", code, right, *forms)


def _holds_any(span: Span, places: list[int]) -> bool:
    return any(span.first <= place <= span.last for place in places)


def loops(code: Code) -> Iterator[Loop]:
    """Every `for (...; variable < bound; ...)`."""
    for i in range(len(code)):
        if code.word(i) != "for" or code.word(i + 1) != "(":
            continue
        end = code.partner[i + 1]
        first = _find(code, ";", i + 2, end)
        second = _find(code, ";", first + 1, end)
        less = _find(code, "<", first, second)
        if less == second or code.kind(less - 1) != "name":
            continue
        variable = code.word(less - 1)
        bound = code.operand_right(less, BINDING["<"])
        yield Loop(variable, _step(code, variable, second, end), bound, _statement(code, end + 1))


def _tests(code: Code) -> Iterator[tuple[Span, Span]]:
    """The condition of every `if`, and the statement that depends on it."""
    for i in range(len(code)):
        if code.word(i) == "if":
            opening = i + 1 + (code.word(i + 1) == "constexpr")
            closing = code.partner[opening]
            yield Span(opening + 1, closing - 1), _statement(code, closing + 1)


def _step(code: Code, variable: str, first: int, last: int) -> str:
    for i in range(first, last):
        if code.word(i) == variable and code.word(i + 1) == "+=":
            return f"({code.source(code.operand_right(i + 1, 0))})"
    return "1"


def _find(code: Code, word: str, first: int, last: int) -> int:
    """The first such token outside of brackets, or `last`."""
    i = first
    while i < last and code.word(i) != word:
        i = code.partner[i] + 1 if code.word(i) in ("(", "[", "{") else i + 1
    return min(i, last)


def _statement(code: Code, first: int) -> Span:
    """The statement that begins at a token: a block, or all up to the `;`."""
    if code.word(first) == "{":
        return Span(first, code.partner[first])
    if code.word(first) in ("for", "if", "while"):
        opening = first + 1 + (code.word(first + 1) == "constexpr")
        return Span(first, _statement(code, code.partner[opening] + 1).last)
    return Span(first, _find(code, ";", first, len(code)))
