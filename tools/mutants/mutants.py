"""All mutants of one kernel, numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from .code import Code
from .draft import Draft, applied
from .guards import guards
from .loops import loop_bounds
from .numbers import arrivals, phases, ranks, stages, transaction_bytes
from .owners import owners
from .removals import removals, weaker_waits
from .stores import stores
from .swizzles import swizzle_bits, swizzles

OPERATORS = (
    *(removals, weaker_waits, stages, phases),
    *(transaction_bytes, arrivals, ranks, loop_bounds),
    *(stores, guards, owners, swizzle_bits),
)


@dataclass(frozen=True)
class Mutant:
    """One changed copy of a kernel.

    id: kernel/operator/number. before, after: the changed line, as it was and as it is. changed:
    the new text of each file that differs.
    """

    id: str
    operator: str
    file: str
    line: int
    before: str
    after: str
    changed: dict[str, str]


def mutants(kernel: str, sources: dict[str, str]) -> list[Mutant]:
    """Every mutant of the kernel with these source files (name -> text), in reading order."""
    codes = {name: Code(text) for name, text in sources.items()}
    of_each = chain.from_iterable(op(code) for code in codes.values() for op in OPERATORS)
    return numbered(kernel, codes, chain(of_each, swizzles(list(codes.values()))))


def numbered(kernel: str, codes: dict[str, Code], given: Iterable[Draft]) -> list[Mutant]:
    """The mutants that drafts are, in reading order, with a number for each operator."""
    drafts = _distinct(given)
    names = {id(code): name for name, code in codes.items()}
    order = list(names.values())
    drafts.sort(key=lambda d: (order.index(names[id(d.edits[0].code)]), d.edits[0].start))
    numbers: Counter[str] = Counter()
    found = []
    for draft in drafts:
        slug = draft.operator.replace(", ", "-").replace(" ", "-")
        numbers[slug] += 1
        found.append(_mutant(f"{kernel}/{slug}/{numbers[slug]}", draft, names))
    return found


def _distinct(drafts: Iterable[Draft]) -> list[Draft]:
    """Operators overlap: `^ 1` dropped from a phase is found in two ways."""
    seen: dict[tuple, Draft] = {}
    for draft in drafts:
        key = tuple((id(e.code), e.start, e.end, e.text) for e in draft.edits)
        seen.setdefault(key, draft)
    return list(seen.values())


def _mutant(name: str, draft: Draft, names: dict[int, str]) -> Mutant:
    changed = {}
    for code in dict.fromkeys(edit.code for edit in draft.edits):
        changed[names[id(code)]] = applied(code, [e for e in draft.edits if e.code is code])
    edit = draft.edits[0]
    file, code = names[id(edit.code)], edit.code
    lines = range(code.line_of(edit.start), code.line_of(max(edit.end - 1, edit.start)) + 1)
    after = _passage(changed[file], lines)
    return Mutant(
        *(name, draft.operator, file, lines[0], _passage(code.text, lines)),
        f"{after}  [{draft.note}]" if draft.note else after,
        changed,
    )


def _passage(text: str, lines: Sequence[int]) -> str:
    """Lines of a text (numbered from 1), as one, without comments and spaces around them."""
    kept = (text.splitlines()[n - 1].partition("//")[0].strip() for n in lines)
    return " ".join(filter(None, kept))
