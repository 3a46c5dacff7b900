"""Constants of a kernel file: where their values stand in its text, and what numbers they are."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..steps.cuda_text import split

_CONSTANT = re.compile(r"(?:\b(?:static|inline)\s+)*\bconstexpr\s+(\w[\w:\s]*?)\s+(?=\w+\s*=[^=])")
_DECLARATOR = re.compile(r"\s*(\w+)\s*=\s*")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.+)$", re.MULTILINE)
_NAMED = re.compile(r"\b(?:constexpr|const|enum\b[\w\s:]*\{)\s*([^;]*);")
_NUMBER = re.compile(r"(?:[\w:]+\s+)*(\w+)\s*(?:=\s*([^=].*)|\{(.*)\})", re.DOTALL)
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


@dataclass(frozen=True)
class Constant:
    """A declared constant: its type, where its value stands, and where the declaration does."""

    name: str
    type: str
    value: tuple[int, int]
    whole: tuple[int, int]


def read_constants(code: str) -> Iterator[Constant]:
    """Constants that a text without comments declares: constexpr int BM = 128, BN = 128;"""
    for start in _CONSTANT.finditer(code):
        parts, at = [], start.end()
        while match := _DECLARATOR.match(code, at):
            stop = _value_end(code, match.end())
            parts.append((match[1], (match.end(), stop)))
            at = stop + 1
            if code[stop : stop + 1] != ",":
                break
        if code[at - 1 : at] != ";":
            continue
        for name, (first, last) in parts:
            last = first + len(code[first:last].rstrip())
            yield Constant(name, " ".join(start[1].split()), (first, last), (start.start(), at))


def _value_end(code: str, at: int) -> int:
    """Where a value ends: at a semicolon, or at a comma before the next `NAME =`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        ends = code[i] == ";" or (code[i] == "," and _DECLARATOR.match(code, i + 1))
        if depth <= 0 and ends:
            return i
    return len(code)


def numbers(code: str) -> dict[str, int]:
    """The whole numbers above 0 that a text without comments gives names to.

    By constexpr, const, enum or #define, as `BM = 64`, `BM{64}` or `BM = 4 * TM`. What is no such
    number, or asks for more than arithmetic, is left out.
    """
    said = {match[1]: match[2] for match in _DEFINE.finditer(code)}
    for match in _NAMED.finditer(code):
        names = match[1].rstrip()
        for part in listed(names.removesuffix("}") if match[0].startswith("enum") else names):
            if found := _NUMBER.fullmatch(part):
                said.setdefault(found[1], found[2] or found[3])
    values = {name: _value(text, said, frozenset({name})) for name, text in said.items()}
    return {name: value for name, value in values.items() if value is not None and value > 0}


def listed(text: str) -> list[str]:
    """What a text lists, separated by commas outside of brackets; nothing if it is empty."""
    return list(filter(None, split(text, ",")))


def _value(text: str, said: dict[str, str], open_: frozenset[str]) -> int | None:
    """What an expression comes to; None for one that is more than arithmetic. open_: names that it
    is itself a part of."""

    def of(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](of(left), of(right))
            case ast.Name(id=name) if name not in open_:
                if (found := _value(said[name], said, open_ | {name})) is not None:
                    return found
        raise ValueError(text)

    try:
        return of(ast.parse(_SUFFIX.sub(r"\1", text.strip()), mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ArithmeticError):
        return None
