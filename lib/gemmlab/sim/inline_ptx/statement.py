"""An asm statement: its template and its operands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...steps.cuda_text import closing, masked, pieces

_STRING = re.compile(r'\s*"((?:\\.|[^"\\\n])*)"')
_OPERAND = re.compile(r'\s*(?:\[\s*(\w+)\s*\]\s*)?"([^"]*)"\s*\(')
_ESCAPES = {"n": "\n", "t": " ", '"': '"', "\\": "\\"}


class NotTranslatedError(Exception):
    """What of a statement is not understood, as words that name it."""


@dataclass(frozen=True)
class Operand:
    """What stands for %0, %1, ...: the constraint's letters, and the expression in C++."""

    constraint: str
    expression: str
    name: str = ""

    @property
    def is_output(self) -> bool:
        """Whether the instruction writes it."""
        return self.constraint.startswith(("=", "+"))


@dataclass(frozen=True)
class Statement:
    """template: the PTX, with real line ends. operands: outputs, then inputs."""

    template: str
    operands: tuple[Operand, ...]


def read_statement(body: str) -> Statement:
    """What stands between the parentheses of an asm statement. Raises NotTranslatedError."""
    text = body.replace("\\\n", " \n")  # of a macro's lines
    sections = [text[start:end] for start, end in pieces(masked(text), ":")]
    operands: list[Operand] = []
    for section in sections[1:3]:
        operands += _operands(section)
    template = _template(sections[0])
    for number, operand in enumerate(operands):
        if operand.name:
            template = template.replace(f"%[{operand.name}]", f"%{number}")
    return Statement(template, tuple(operands))


def _template(section: str) -> str:
    text, at = "", 0
    while found := _STRING.match(section, at):
        text, at = text + found[1], found.end()
    if rest := section[at:].strip():
        raise NotTranslatedError(f"a template that a macro makes ({rest.split()[0]})")
    unescaped = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], " "), text)
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", unescaped, flags=re.DOTALL)


def _operands(section: str) -> list[Operand]:
    code, found, at = masked(section), [], 0
    while section[at:].strip():
        if not (start := _OPERAND.match(section, at)):
            raise NotTranslatedError(f"the operand {section[at:].strip().splitlines()[0]}")
        end = closing(code, start.end() - 1)
        expression = " ".join(section[start.end() : end].split())
        found.append(Operand(start[2], expression, start[1] or ""))
        rest = re.compile(r"\s*,?").match(section, end + 1)
        at = rest.end() if rest else len(section)
    return found
