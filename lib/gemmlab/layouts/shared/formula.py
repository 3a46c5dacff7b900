"""Integer formulas that a reader types, parsed and evaluated without `eval`.

Numbers, names, ( ) and the operators of C with C's precedence: unary -, * / %, + -, << >>, &, ^, |.
Division truncates as in C. Every value must stay inside 32 bits, so that the browser's copy
(`widgets/model/shared/formula.js`) computes the same; messages are the same there too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ...core.errors import ArgumentError

MAX_LENGTH = 160
_TOKEN = re.compile(r"[ \t\n]*(?:([0-9]+)|([A-Za-z_][A-Za-z_0-9]*)|(<<|>>|[-+*/%&^|()=;]))")
_PRECEDENCE = {
    **{"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4},
    **{"+": 5, "-": 5, "*": 6, "/": 6, "%": 6},
}
Expression = Callable[[Mapping[str, int]], int]


def _limited(value: int) -> int:
    if abs(value) >= 1 << 31:
        raise ArgumentError("formula: a value leaves the range of 32 bits")
    return value


def _apply(op: str, a: int, b: int) -> int:
    if op in "/%" and b == 0:
        raise ArgumentError("formula: division by zero")
    if op in ("<<", ">>") and not 0 <= b < 32:
        raise ArgumentError("formula: a shift must be by 0 to 31")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if op in "/%" else 0
    return _limited(
        {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "/": lambda: quotient,
            "%": lambda: a - quotient * b,
            "<<": lambda: a << b,
            ">>": lambda: a >> b,
            "&": lambda: a & b,
            "^": lambda: a ^ b,
            "|": lambda: a | b,
        }[op]()
    )


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        if len(text) > MAX_LENGTH:
            raise ArgumentError(f"formula: more than {MAX_LENGTH} characters")
        self.names = set(names)
        self.tokens: list[str] = []
        at = 0
        text = text.rstrip(" \t\n")
        while at < len(text):
            match = _TOKEN.match(text, at)
            if not match:
                raise ArgumentError(f"formula: cannot read '{text[at:].lstrip()[:1]}'")
            self.tokens.append(match.group().strip())
            at = match.end()
        self.tokens.append("")

    def take(self) -> str:
        return self.tokens.pop(0)

    def expect(self, token: str) -> None:
        if self.tokens[0] != token:
            found = f"'{self.tokens[0]}'" if self.tokens[0] else "the end"
            raise ArgumentError(f"formula: expected '{token}', found {found}")
        self.take()

    def expression(self, level: int = 1) -> Expression:
        left = self.operand()
        while _PRECEDENCE.get(self.tokens[0], 0) >= level:
            op = self.take()
            left = self.binary(op, left, self.expression(_PRECEDENCE[op] + 1))
        return left

    @staticmethod
    def binary(op: str, left: Expression, right: Expression) -> Expression:
        return lambda env: _apply(op, left(env), right(env))

    def operand(self) -> Expression:
        token = self.take()
        if token == "-":
            inner = self.operand()
            return lambda env: -inner(env)
        if token == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token[:1].isdigit():
            value = _limited(int(token))
            return lambda env: value
        if token in self.names and token:
            return lambda env: env[token]
        if re.match("[A-Za-z_]", token):
            known = ", ".join(sorted(self.names))
            raise ArgumentError(f"formula: unknown name '{token}', known are {known}")
        found = f"'{token}'" if token else "the end"
        raise ArgumentError(f"formula: expected a number or a name, found {found}")


def expression(text: str, names: Iterable[str]) -> Expression:
    """Compiles one expression in `names`; call the result with a mapping of their values.

    Raises ArgumentError, at compile time for a text that is no formula, at call time for division
    by zero, a shift outside 0 to 31, or a value outside 32 bits.
    """
    parser = _Parser(text, names)
    result = parser.expression()
    if parser.tokens[0]:
        raise ArgumentError(f"formula: '{parser.tokens[0]}' is too much")
    return result


def program(
    text: str, names: Iterable[str], results: Iterable[str]
) -> Callable[[Mapping[str, int]], dict[str, int]]:
    """Compiles `name = expression; ...`; each may use the names assigned before it.

    The call returns the values of `results`. Raises ArgumentError as `expression` does, or if one
    of `results` is never assigned.
    """
    parser = _Parser(text, names)
    steps: list[tuple[str, Expression]] = []
    while parser.tokens[0]:
        name = parser.take()
        if not re.match("[A-Za-z_]", name):
            raise ArgumentError(f"formula: expected a name and '=', found '{name}'")
        parser.expect("=")
        steps.append((name, parser.expression()))
        parser.names.add(name)
        if parser.tokens[0]:
            parser.expect(";")
    wanted = list(results)
    for name in wanted:
        if name not in (step[0] for step in steps):
            raise ArgumentError(f"formula: '{name} = ...' is missing")

    def run(env: Mapping[str, int]) -> dict[str, int]:
        values = dict(env)
        for name, compute in steps:
            values[name] = compute(values)
        return {name: values[name] for name in wanted}

    return run
