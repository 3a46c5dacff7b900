"""The functions of a source, and copies of them that differ in one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .code import Code, Span
from .draft import Edit
from .removals import synchronises

_HEADS = ("if", "for", "while", "switch", "__launch_bounds__")


@dataclass(frozen=True)
class Function:
    """A function with a body; `span` is all of it, from `template` or its type to the `}`."""

    code: Code
    name: int  # its token
    span: Span
    body: Span

    @property
    def is_helper(self) -> bool:
        """Whether it only computes: called by both sides of a copy, it changes both."""
        words = {self.code.word(i) for i in range(self.span.first, self.name)}
        calls = [c for c in self.code.calls if self.holds(c.span.first)]
        computes = any(
            self.code.word(i) == "return" for i in range(self.body.first, self.body.last)
        )
        return computes and not ("__global__" in words or any(map(synchronises, calls)))

    def holds(self, i: int) -> bool:
        """Whether token i is in the body."""
        return self.body.first <= i <= self.body.last

    def copy(self, name: str, changed: Span, form: str) -> Edit:
        """The edit that adds, behind it and on the same line, a copy with one span changed."""
        code = self.code
        words = [code.word(i) for i in range(self.span.first, self.span.last + 1)]
        words[self.name - self.span.first] = name
        at = slice(changed.first - self.span.first, changed.last + 1 - self.span.first)
        words[at] = [form.replace("{}", " ".join(words[at]))]
        end = code.tokens[self.span.last].end
        return Edit(code, end, end, " " + " ".join(words))


def functions(code: Code) -> Iterator[Function]:
    """Every function that is defined in a source, those within others left out."""
    i = 0
    while i < len(code):
        opening = code.partner.get(i - 1, -1) if code.word(i - 1) == ")" else -1
        name = opening - 1
        if code.word(i) == "{" and code.kind(name) == "name" and code.word(name) not in _HEADS:
            first = name
            while code.word(first - 1) not in (";", "{", "}", ""):
                first -= 1
            yield Function(code, name, Span(first, code.partner[i]), Span(i, code.partner[i]))
            i = code.partner[i]
        i += 1


def copying_names(code: Code) -> frozenset[str]:
    """Functions and lambdas whose body copies or synchronises: calling one does so, too."""
    bodies = {code.word(f.name): f.body for f in functions(code)}
    for i in range(len(code)):
        if code.word(i) == "=" and code.word(i + 1) == "[":
            opening = code.partner[i + 1] + 1
            body = code.partner[opening] + 1 if code.word(opening) == "(" else opening
            if code.word(body) == "{":
                bodies[code.word(i - 1)] = Span(body, code.partner[body])
    places = [call.span.first for call in code.calls if synchronises(call)]
    return frozenset(
        name
        for name, body in bodies.items()
        if any(body.first <= place <= body.last for place in places)
    )
