"""Synchronizing statements as published kernels write them, each removed: drafts of mutants.

A statement is a call by its usual names (CUDA's functions, cooperative groups, cuda::barrier,
libcu++, macros and small functions around PTX), or an asm of the function itself. A function that
has such a name is a wrapper: what is removed is each call of it, not its body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.mutants.code import Call, Code, Span
from tools.mutants.draft import Draft, drafts
from tools.mutants.functions import functions

# The first that matches is the operator. Names as a whole, in upper or lower case.
_NAMES = {
    "remove fence": r"\w*fence\w*|warpgroup_arrive|__?membar\w*",
    "remove commit": r"\w*commit\w*",
    "remove wait": r"\w*(?<!try_)(?<!test_)wait(?!ers)\w*",
    "remove arrive": r"\w*(arrive|expect)\w*",
    "remove barrier": r"__sync(threads\w*|warp)|sync|(bar(rier)?|block|cluster|grid)_?sync\w*",
}
_NO_STATEMENT = re.compile(r"init\w*|cuda[A-Z]\w*|cu[A-Z]\w*|\w*init_barrier\w*", re.IGNORECASE)
_PTX = {
    "remove fence": r"\bfence\b|\bwgmma\.fence|\bmembar\b",
    "remove commit": r"\bcommit_group\b",
    "remove wait": r"\bwait_(group|all)\b|\bmbarrier\.(try|test)_wait\b|barrier\.cluster\.wait",
    "remove arrive": r"\bmbarrier\.(arrive|expect_tx|complete_tx)\b|barrier\.cluster\.arrive",
    "remove barrier": r"\bbar(rier)?\.(cta\.|warp\.)?(sync|arrive|red)\b",
}
_OPERATORS = {operator: re.compile(names, re.IGNORECASE) for operator, names in _NAMES.items()}
_IN_ASM = {operator: re.compile(text) for operator, text in _PTX.items()}
_TRIES = re.compile(r"\w*(try|test)_wait\w*", re.IGNORECASE)
_ENDS = frozenset((";", "{", "}", ")", ":", ""))


def operator_of(name: str) -> str:
    """What removing a call of this name is, "" if it does not synchronize."""
    if _NO_STATEMENT.fullmatch(name):
        return ""
    return next((one for one, names in _OPERATORS.items() if names.fullmatch(name)), "")


def statements(code: Code, within: Sequence[str] = ()) -> Iterator[Draft]:
    """A draft for each of them, from the top down.

    within: functions, all if there is none; those that a wrapper is called are left out.
    """
    bodies = [one for one in functions(code) if not operator_of(code.word(one.name))]
    if within:
        bodies = [one for one in bodies if code.word(one.name) in within]
    found = [*_calls(code), *_asm(code)]
    for span, operator, form in sorted(found, key=lambda one: one[0].first):
        if any(body.holds(span.first) for body in bodies):
            yield from drafts(operator, code, span, form)


def _calls(code: Code) -> Iterator[tuple[Span, str, str]]:
    for call in code.calls:
        if _TRIES.fullmatch(call.name):
            yield _with_object(code, call), "remove wait", "true"
        elif operator := operator_of(call.name):
            span = _with_result(code, _with_object(code, call))
            if code.word(span.last + 1) == ";" and code.word(span.first - 1) in (
                *(*_ENDS, "else", "do"),
            ):
                yield span, operator, ""


def _asm(code: Code) -> Iterator[tuple[Span, str, str]]:
    for i in range(len(code)):
        if code.word(i) not in ("asm", "__asm__"):
            continue
        opening = i + 1
        while code.kind(opening) == "name":
            opening += 1
        if code.word(opening) != "(":
            continue
        span = Span(i, code.partner[opening])
        text = code.source(span)
        for operator, instruction in _IN_ASM.items():
            if instruction.search(text):
                yield span, operator, ""
                break


def _with_object(code: Code, call: Call) -> Span:
    """The call with what it is called of: `full[i].wait(...)`, `(*barrier).arrive_and_wait()`."""
    first = call.span.first
    while code.word(first - 1) in (".", "->"):
        first -= 2
        while code.word(first) in ("]", ")"):
            first = code.partner[first] - 1
            if code.kind(first) != "name" and code.word(first) not in ("]", ")"):
                first += 1
                break
        while code.word(first - 1) == "::":
            first -= 2
    return Span(first, call.span.last)


def _with_result(code: Code, span: Span) -> Span:
    """The call with the assignment or the definition that takes its result."""
    if code.word(span.first - 1) != "=":
        return span
    first = span.first - 1
    while code.word(first - 1) not in _ENDS:
        first = code.partner[first - 1] if code.word(first - 1) == "]" else first - 1
    return Span(first, span.last)
