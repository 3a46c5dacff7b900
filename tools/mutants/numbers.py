"""Operators that are off by one: stages, phases, transaction bytes, arrivals, ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .code import ASSIGNMENTS, BINDING, Code, Span
from .draft import Draft, drafts
from .loops import loops

_STAGE = re.compile(r"(\w+_)?(stage|buffer|slot|buf)")
_PHASE = re.compile(r"(\w+_)?(phase|parity)")
_COUNT = re.compile(r"(\w+_)?(STAGES|BUFFERS|SLOTS)")
_WAIT = re.compile(r"mbarrier_((try|test)_)?wait\w*")
_FEW = ("2", "3", "4", "5", "6", "7", "8")
_NO_INDEX = ("(", "[", "{", "::", ".", "->")  # after the name: it is a function, an array, a struct
_TYPES_MAY_PRECEDE = ("return", "else", "do", "case")


def stages(code: Code) -> Iterator[Draft]:
    """Every use of a stage index, and every `% STAGES`, one further and one back, in the ring."""
    count = next((code.word(i) for i in code.names(_COUNT)), "2")
    both_ways = count != "2" and f"{count}=2" not in code.text.replace(" ", "")
    everywhere = set(_uses_in_loops_over_all(code))
    for i in sorted({*_uses(code, _STAGE), *_uses_of_picked(code)} - everywhere):
        span = _with_owner(code, i)
        yield from drafts("stage", code, span, f"(({{}} + 1) % {count})")
        if both_ways:
            yield from drafts("stage", code, span, f"(({{}} + {count} - 1) % {count})")
    for i in range(len(code)):
        if code.word(i - 1) == "%" and _counts_stages(code, i):
            left, number = code.operand_left(i - 1, BINDING["%"]), code.word(i)
            yield from drafts("stage", code, left, "({} + 1)")
            if number != "2" and (number != count or both_ways):
                yield from drafts("stage", code, left, f"({{}} + {number} - 1)")
        elif code.word(i - 1) in ("==", ">=") and _COUNT.fullmatch(code.word(i)):
            yield from drafts("stage", code, Span(i, i), "({} - 1)", "({} + 1)")
    yield from _starts("stage", code, _STAGE)
    yield from _flips("stage", code, _STAGE)


def phases(code: Code) -> Iterator[Draft]:
    """Every parity that is waited for, kept or started with, inverted; every flip dropped."""
    waited: set[int] = set()
    for span in waited_parities(code):
        waited.update(range(span.first, span.last + 1))
        yield from drafts("phase", code, span, "(({}) ^ 1)")
    for i in _uses(code, _PHASE):
        if i not in waited:
            yield from drafts("phase", code, _with_owner(code, i), "({} ^ 1)")
    for i in code.names(_PHASE):
        if code.word(i + 1) == "=":
            value = code.operand_right(i + 1, 0)
            yield from drafts("phase", code, value, "(({}) ^ 1)")
    yield from _flips("phase", code, _PHASE)


def waited_parities(code: Code) -> list[Span]:
    """What waits on an mbarrier are given as the parity of the phase."""
    waits = [call for call in code.calls if _WAIT.fullmatch(call.name)]
    return [call.arguments[1] for call in waits if len(call.arguments) > 1]


def transaction_bytes(code: Code) -> Iterator[Draft]:
    """The bytes that a barrier is told to expect: 16 more, 16 fewer, half."""
    for call in code.calls:
        if re.fullmatch(r"mbarrier_(arrive_)?expect_tx\w*", call.name):
            forms = ("({}) + 16", "({}) - 16", "({}) / 2")
            yield from drafts("transaction bytes", code, call.arguments[1], *forms)


def arrivals(code: Code) -> Iterator[Draft]:
    """How many arrivals a barrier waits for: one more, one fewer; a named barrier: a warp.

    Another name for one call matters only for a barrier whose two sides are different calls.
    """
    arrived_at = {code.source(c.arguments[0]) for c in code.calls if c.name == "bar_arrive"}
    for call in code.calls:
        if call.name == "mbarrier_init":
            yield from drafts("arrival count", code, call.arguments[1], "({}) + 1", "({}) - 1")
        elif call.name in ("bar_sync", "bar_arrive"):
            yield from drafts("arrival count", code, call.arguments[1], "({}) + 32", "({}) - 32")
            if code.source(call.arguments[0]) in arrived_at:
                yield from drafts("named barrier", code, call.arguments[0], "({}) + 1")


def ranks(code: Code) -> Iterator[Draft]:
    """The neighbour instead of the block meant; a multicast that leaves a block out."""
    for call in code.calls:
        if call.name in ("mapa", "mbarrier_arrive_cluster", "mbarrier_arrive_remote"):
            yield from drafts("cluster rank", code, call.arguments[1], "(({}) ^ 1)")
        elif call.name == "tma_load_2d_multicast":
            yield from drafts("cluster rank", code, call.arguments[-1], "({}) & 1", "({}) & ~1")


def _counts_stages(code: Code, i: int) -> bool:
    """Whether `% token` picks a stage: STAGES, or a small number in an array's first index."""
    if _COUNT.fullmatch(code.word(i)):
        return True
    ends_index = code.word(i + 1) == "]"
    first_index = ends_index and code.kind(code.partner[i + 1] - 1) == "name"
    is_stage = bool(_STAGE.fullmatch(code.word(_target(code, i))))
    return code.word(i) in _FEW and (first_index or is_stage)


def _uses_of_picked(code: Code) -> Iterator[int]:
    """Where a variable is read that was set to something `% STAGES`, up to the end of its block."""
    for i in code.names(_COUNT):
        declared = _target(code, i)
        if code.word(i - 1) != "%" or declared < 0:
            continue
        end = min(
            last
            for first, last in code.partner.items()
            if code.word(first) == "{" and first < declared < last
        )
        name = re.compile(re.escape(code.word(declared)))
        yield from (use for use in _uses(code, name) if i < use < end)


def _uses_in_loops_over_all(code: Code) -> Iterator[int]:
    """Uses of the variable of a loop over all stages: one further each is all of them again."""
    for loop in loops(code):
        if loop.step == "1" and _COUNT.fullmatch(code.source(loop.bound)):
            name = re.compile(loop.variable)
            yield from (i for i in _uses(code, name) if loop.body.first <= i <= loop.body.last)


def _target(code: Code, i: int) -> int:
    """The name that the expression around token i is assigned to, or -1."""
    left = code.operand_left(i, 0).first
    return left - 2 if code.word(left - 1) == "=" else -1


def _uses(code: Code, names: re.Pattern[str]) -> Iterator[int]:
    """Where a variable of such a name is read: not declared, assigned or counted up."""
    for i in code.names(names):
        before, after = code.word(i - 1), code.word(i + 1)
        declared = code.kind(i - 1) == "name" and before not in _TYPES_MAY_PRECEDE
        # `Stage& stage,` in a list of parameters
        declared |= before in ("&", "*") and code.kind(i - 2) == "name" and after in (",", ")")
        counted = {before, after} & {"++", "--"}
        if not (declared or counted or after in ASSIGNMENTS or after in _NO_INDEX):
            yield i


def _with_owner(code: Code, i: int) -> Span:
    """`state.stage` for the `stage` in it."""
    first = i
    while code.word(first - 1) in (".", "->") and code.kind(first - 2) == "name":
        first -= 2
    return Span(first, i)


def _flips(operator: str, code: Code, names: re.Pattern[str]) -> Iterator[Draft]:
    """Changes of a variable (`stage ^= 1`, `++stage`), and `^ 1` in values, dropped."""
    for i in code.names(names):
        after = code.word(i + 1)
        if after in ("^=", "+=", "^"):
            span = Span(i, code.operand_right(i + 1, BINDING.get(after, 0)).last)
        elif after in ("++", "--"):
            span = Span(i, i + 1)
        elif code.word(i - 1) in ("++", "--"):
            span = Span(i - 1, i)
        else:
            continue
        yield from drafts(operator, code, span, "" if code.is_statement(span) else code.word(i))


def _starts(operator: str, code: Code, names: re.Pattern[str]) -> Iterator[Draft]:
    """Plain numbers that are assigned to a variable, one more."""
    for i in code.names(names):
        is_number = code.kind(i + 2) == "number" and code.word(i + 3) in (";", ",")
        if code.word(i + 1) == "=" and is_number:
            yield from drafts(operator, code, Span(i + 2, i + 2), "{} + 1")
