"""A CUDA source as tokens: enough C++ to find calls, operands, functions and loops."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|::|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_OPENING = {"(": ")", "[": "]", "{": "}"}
# How tightly a binary operator binds; what is not listed ends an operand.
BINDING = {
    **dict.fromkeys(("*", "/", "%"), 10),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("==", "!="), 6),
    **{"&": 5, "^": 4, "|": 3, "&&": 2, "||": 1},
}
ASSIGNMENTS = frozenset(("=", *(f"{op}=" for op in "+-*/%&|^"), "<<=", ">>="))


@dataclass(frozen=True)
class Token:
    """A word or mark of the source and where it stands."""

    kind: str  # name, number, string, mark
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Span:
    """The tokens from `first` to `last`, both included."""

    first: int
    last: int


@dataclass(frozen=True)
class Call:
    """`name<template>(arguments)`; `span` is all of it, `qualifiers::` included."""

    name: str
    span: Span
    template: Span | None
    arguments: tuple[Span, ...]


class Code:
    """The tokens of one source text. Comments, strings and preprocessor lines are not code."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(m.lastgroup or "", m[0], m.start(), m.end())
            for m in _TOKEN.finditer(text)
            if m.lastgroup != "skip"
        ]
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.partner = self._match_brackets()

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, i: int) -> str:
        """The text of token i, empty beyond both ends."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def kind(self, i: int) -> str:
        """name, number, string or mark; empty beyond both ends."""
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else ""

    def source(self, span: Span) -> str:
        """The text from the first to the last token of `span`."""
        return self.text[self.tokens[span.first].start : self.tokens[span.last].end]

    def line_of(self, position: int) -> int:
        """The number of the line, from 1, in which a character stands."""
        return bisect_right(self._line_starts, position)

    def line(self, number: int) -> str:
        """The text of a line, by its number from 1."""
        return self.text.splitlines()[number - 1]

    def names(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """The tokens that are names and match `pattern` as a whole."""
        for i, token in enumerate(self.tokens):
            if token.kind == "name" and pattern.fullmatch(token.text):
                yield i

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call of a named function, from the top down."""
        found = (self._call_at(i) for i in range(len(self)) if self.kind(i) == "name")
        return tuple(call for call in found if call)

    def is_statement(self, span: Span) -> bool:
        """Whether `span` with the `;` after it is a whole statement."""
        return self.word(span.last + 1) == ";" and self.word(span.first - 1) in (
            *(";", "{", "}", ")", ":", ""),
            *("else", "do"),
        )

    def operand_right(self, i: int, binding: int) -> Span:
        """What stands right of operator i: as far as operators bind tighter than `binding`."""
        return Span(i + 1, self._extent(i + 1, 1, binding))

    def operand_left(self, i: int, binding: int) -> Span:
        """What stands left of operator i: as far as operators bind at least like `binding`."""
        return Span(self._extent(i - 1, -1, max(binding - 1, 0)), i - 1)

    def _extent(self, start: int, step: int, binding: int) -> int:
        i, last = start, start
        while 0 <= i < len(self):
            word = self.word(i)
            inwards = word in _OPENING if step > 0 else word in _OPENING.values()
            if inwards:
                i = self.partner[i]
            elif self.kind(i) == "mark" and word not in ("::", ".", "->", "!", "~"):
                # `-1`, `*p`: such a mark belongs to what follows it.
                is_sign = word in ("-", "+", "*", "&") and not self._ends_operand(i - 1)
                if not is_sign and BINDING.get(word, 0) <= binding:
                    break
            elif word == "return":
                break
            last = i
            i += step
        return last

    def _ends_operand(self, i: int) -> bool:
        return self.kind(i) in ("name", "number", "string") or self.word(i) in (")", "]")

    def _call_at(self, i: int) -> Call | None:
        opening, template = i + 1, None
        if self.word(opening) == "<":
            closing = self._template_end(opening)
            if closing is None:
                return None
            template, opening = Span(opening + 1, closing - 1), closing + 1
        first = i
        while self.word(first - 1) == "::" and self.kind(first - 2) == "name":
            first -= 2
        # Two names in a row declare something: `float swizzle(...)`.
        declared = self.kind(first - 1) == "name" and self.word(first - 1) not in (
            *("return", "else", "do"),
        )
        if self.word(opening) != "(" or declared or self.word(i) in _KEYWORDS:
            return None
        closing = self.partner[opening]
        arguments = self._split(opening, closing)
        return Call(self.word(i), Span(first, closing), template, arguments)

    def _template_end(self, opening: int) -> int | None:
        """The `>` of a `<` that opens template arguments; None if it is a comparison."""
        i = opening + 1
        while self.kind(i) in ("name", "number") or self.word(i) in _IN_TEMPLATE:
            if self.word(i) == ">":
                return i
            i = self.partner[i] + 1 if self.word(i) == "(" else i + 1
        return None

    def _split(self, opening: int, closing: int) -> tuple[Span, ...]:
        """The spans between the commas within a pair of brackets."""
        spans, first, i = [], opening + 1, opening + 1
        while i <= closing:
            if i == closing or self.word(i) == ",":
                if i > first:
                    spans.append(Span(first, i - 1))
                first = i + 1
            i = self.partner[i] + 1 if self.word(i) in _OPENING else i + 1
        return tuple(spans)

    def _match_brackets(self) -> dict[int, int]:
        partner, open_ones = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != "mark":
                continue
            if token.text in _OPENING:
                open_ones.append(i)
            elif token.text in _OPENING.values() and open_ones:
                partner[i] = open_ones.pop()
                partner[partner[i]] = i
        return partner


_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "static_assert"))
_IN_TEMPLATE = frozenset(("+", "-", "*", "/", "%", ",", "::", "(", "[", ">"))
