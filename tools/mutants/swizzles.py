"""Operators on swizzles: an XOR dropped, its shift, mask or factor changed, on one side or on both.

A helper that both sides of a copy call is changed for one caller at a time: the caller gets a copy
of the helper with the change. Changing the helper itself gives another layout, the same for both
sides; where that is one-to-one too, the product stays right and only the conflicts differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .code import Code, Span
from .draft import Draft, Edit, drafts, replace
from .functions import Function, functions
from .numbers import waited_parities

_XOR = 4  # how tightly ^ binds
_OTHER_OPERATORS = re.compile(r"(\w+_)?(phase|parity|stage|buffer|slot|buf|rank)")
_MODES = ("NONE", "32B", "64B", "128B")
_MODE = re.compile(r"CU_TENSOR_MAP_SWIZZLE_(\w+)")


def swizzles(sources: Sequence[Code]) -> Iterator[Draft]:
    """Every change of every XOR, and of every swizzle that a tensor map asks for."""
    known = [function for code in sources for function in functions(code)]
    for code in sources:
        for xor, span, form in _changes(code):
            inside = next((f for f in known if f.code is code and f.holds(span.first)), None)
            if inside is None or not inside.is_helper:
                yield from drafts("swizzle", code, span, form)
                continue
            yield from drafts("swizzle, both sides", code, span, form)
            note = f"{_mutant(inside)}: {_changed(code, xor, span, form)}"
            for edits in _one_side(inside, span, form, known):
                yield Draft("swizzle", edits, note)
        for i in code.names(_MODE):
            yield from _other_modes(code, i)
        yield from _other_patterns(code)


def swizzle_bits(code: Code) -> Iterator[Draft]:
    """Every `swizzle<BITS, SHIFT>(offset)` with one bit less, at this place alone."""
    for call in code.calls:
        if call.name == "swizzle" and call.template:
            first = Span(call.template.first, call.template.first)
            yield from drafts("swizzle bits", code, first, "{} - 1")


def _changes(code: Code) -> Iterator[tuple[Span, Span, str]]:
    """For every XOR that is a swizzle: the whole of it, and what stands in the place of what."""
    parities = {i for span in waited_parities(code) for i in range(span.first, span.last + 1)}
    for i in range(len(code)):
        if code.word(i) not in ("^", "^="):
            continue
        left = code.operand_left(i, _XOR)
        right = code.operand_right(i, _XOR if code.word(i) == "^" else 0)
        whole = Span(left.first, right.last)
        words = [code.word(j) for j in range(whole.first, whole.last + 1)]
        if i in parities or any(map(_OTHER_OPERATORS.fullmatch, words)):
            continue
        yield whole, whole, code.source(left) if code.word(i) == "^" else ""
        for j in range(right.first, right.last + 1):
            yield from ((whole, Span(j, j), form) for form in _other_numbers(code, j))


def _other_numbers(code: Code, i: int) -> Sequence[str]:
    """Shifts one more and one less; masks, factors and divisors doubled and halved."""
    before, after, number = code.word(i - 1), code.word(i + 1), code.word(i)
    if code.kind(i) != "number" or not (
        plain := re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uU]?", number)
    ):
        return ()
    value = int(plain[1], 0)
    if before in ("<<", ">>"):
        others = (value + 1, value - 1)
    elif before in ("&", "*", "/", "%") or after in ("&", "*"):
        others = (value * 2, value // 2)
    else:
        return ()
    form = "0x{:x}" if number.lower().startswith("0x") else "{}"
    return [form.format(other) for other in others if other > 0 or before in ("<<", ">>")]


def _changed(code: Code, whole: Span, span: Span, form: str) -> str:
    """The source of `whole` with one span in it changed."""
    start = code.tokens[whole.first].start
    before = code.text[start : code.tokens[span.first].start]
    after = code.text[code.tokens[span.last].end : code.tokens[whole.last].end]
    return before + form + after


def _one_side(
    function: Function, span: Span, form: str, known: Sequence[Function]
) -> Iterator[tuple[Edit, ...]]:
    """For each place that calls `function`: the edits that change it for this place alone."""
    name = _mutant(function)
    copy = function.copy(name, span, form)
    original = function.code.word(function.name)
    for code in dict.fromkeys(f.code for f in known):
        for call in code.calls:
            if call.name != original:
                continue
            called = Span(call.span.last, call.span.last)
            caller = next((f for f in known if f.code is code and f.holds(called.first)), None)
            at = next(i for i in range(call.span.first, call.span.last) if code.word(i) == original)
            if caller and caller.is_helper:
                for edits in _one_side(caller, Span(at, at), name, known):
                    yield (*edits, copy)
            else:
                yield (replace(code, Span(at, at), name), copy)


def _mutant(function: Function) -> str:
    return f"{function.code.word(function.name)}_mutant"


def _other_modes(code: Code, i: int) -> Iterator[Draft]:
    """The next smaller and the next larger swizzle of a tensor map."""
    found = _MODE.fullmatch(code.word(i))
    assert found is not None  # what _MODE finds is asked for
    at = _MODES.index(found[1])
    for other in _MODES[max(at - 1, 0) : at] + _MODES[at + 1 : at + 2]:
        yield from drafts("swizzle", code, Span(i, i), f"CU_TENSOR_MAP_SWIZZLE_{other}")


def _other_patterns(code: Code) -> Iterator[Draft]:
    """The swizzle that a descriptor of shared memory announces, half or twice as wide."""
    for call in code.calls:
        if re.fullmatch(r"wgmma_(descriptor|k_major|mn_major)", call.name) and call.template:
            span = Span(call.template.first, call.template.first)
            width = int(code.word(span.first)) if code.kind(span.first) == "number" else 0
            forms = [str(other) for other in (width // 2, width * 2) if 32 <= other <= 128]
            yield from drafts("swizzle", code, span, *forms)
