"""The PTX of an asm statement: its instructions, registers and labels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...steps.cuda_text import split
from .statement import NotTranslatedError

_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.DOTALL)
_COUNTED = re.compile(r"(%?[\w$]+)<(\d+)>")
_PREDICATE = re.compile(r"@(!?)\s*(%?[\w$]+)\s+")
_MNEMONIC = re.compile(r"([a-z][\w.:]*)\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Register:
    """A declared register: its type, b32, and a name that no other of the statement has."""

    type: str
    name: str


@dataclass(frozen=True)
class Instruction:
    """One instruction, or a label. scope: the registers that its operands may name.

    predicate: (is it negated, a register). label: if it is one, and nothing else.
    """

    mnemonic: str
    operands: tuple[str, ...]
    scope: dict[str, Register]
    predicate: tuple[bool, str] | None = None
    label: str = ""


@dataclass(frozen=True)
class Program:
    """What a template says. registers: all of them, also of inner groups."""

    instructions: tuple[Instruction, ...]
    registers: tuple[Register, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, each once."""
        return tuple(dict.fromkeys(i.label for i in self.instructions if i.label))


class _Reader:
    """Goes through a template and keeps the registers of the groups that are open."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._scopes: list[dict[str, Register]] = [{}]
        self.registers: list[Register] = []
        self.instructions: list[Instruction] = []

    def read(self) -> None:
        """The whole template."""
        while self._at < len(self._text):
            character = self._text[self._at]
            if character.isspace() or character == ";":
                self._at += 1
            elif character == "{":
                self._scopes.append(dict(self._scopes[-1]))
                self._at += 1
            elif character == "}":
                self._close()
            elif label := _LABEL.match(self._text, self._at):
                self.instructions.append(Instruction("", (), {}, label=_plain(label[1])))
                self._at = label.end()
            else:
                self._statement(self._until_semicolon())

    def _close(self) -> None:
        if len(self._scopes) > 1:
            self._scopes.pop()
        self._at += 1

    def _until_semicolon(self) -> str:
        end = self._text.find(";", self._at)
        end = len(self._text) if end < 0 else end
        text, self._at = self._text[self._at : end].strip(), end + 1
        return text

    def _statement(self, text: str) -> None:
        if declared := _REGISTERS.fullmatch(text):
            self._declare(declared[1], declared[2])
            return
        if text.startswith("."):
            raise NotTranslatedError(f"the directive {text.split()[0]}")
        predicate = None
        if found := _PREDICATE.match(text):
            predicate = (found[1] == "!", found[2])
            text = text[found.end() :]
        if not (parts := _MNEMONIC.fullmatch(text)):
            raise NotTranslatedError(f"{text.split()[0]}")
        operands = tuple(filter(None, split(parts[2], ","))) if parts[2].strip() else ()
        self.instructions.append(Instruction(parts[1], operands, dict(self._scopes[-1]), predicate))

    def _declare(self, type_: str, names: str) -> None:
        for name in split(names, ","):
            counted = _COUNTED.fullmatch(name)
            each = [f"{counted[1]}{i}" for i in range(int(counted[2]))] if counted else [name]
            for one in each:
                register = Register(type_, f"ptx_{_plain(one)}_{len(self.registers)}")
                self._scopes[-1][one.lstrip("%")] = register
                self.registers.append(register)


def read_template(text: str) -> Program:
    """The instructions of a template. Raises NotTranslatedError."""
    reader = _Reader(text.replace("%%", "%"))
    reader.read()
    return Program(tuple(reader.instructions), tuple(reader.registers))


def _plain(name: str) -> str:
    """A name of PTX as one of C++."""
    return re.sub(r"\W", "_", name.lstrip("%"))
