"""From an asm statement to the C++ that stands in its place."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .instructions import call_of
from .operands import Operands
from .statement import NotTranslatedError, Operand, Statement, read_statement
from .template import Instruction, Program, Register, read_template

_TYPES = {
    "pred": "bool",
    **{f"{letter}{bits}": f"uint{bits}_t" for letter in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{"f16": "uint16_t", "bf16": "uint16_t", "f16x2": "uint32_t", "bf16x2": "uint32_t"},
    **{"f32": "float", "f64": "double"},
}


@dataclass(frozen=True)
class Translated:
    """code: C++ for the statement's place, on one line. unknown: what it cannot do, "" if all.

    A statement with something unknown stops the thread that comes to it.
    """

    code: str
    unknown: str = ""


def translated(body: str) -> Translated:
    """What stands between the parentheses of an asm statement, as C++."""
    try:
        statement = read_statement(body)
        program = read_template(statement.template)
        return Translated(_code(statement, program))
    except NotTranslatedError as error:
        what = f"inline PTX: {error}"
        return Translated(f"({{ sim_not_simulated({json.dumps(what)}); }})", what)


def _code(statement: Statement, program: Program) -> str:
    given = tuple(f"ptx{number}" for number in range(len(statement.operands)))
    parts = [f"__label__ {', '.join(program.labels)};"] if program.labels else []
    parts += [_register(register) for register in program.registers]
    for name, operand in zip(given, statement.operands, strict=True):
        parts.append(_operand(name, operand))
    parts += [_instruction(instruction, given) for instruction in program.instructions]
    return f"({{ {' '.join(parts)} (void)0; }})"


def _register(register: Register) -> str:
    if register.type not in _TYPES:
        raise NotTranslatedError(f"a register of type .{register.type}")
    return f"{_TYPES[register.type]} {register.name} = {{}};"


def _operand(name: str, operand: Operand) -> str:
    """A name for an output's variable, or for a copy of an input's value."""
    kind = "auto&&" if operand.is_output else "const auto"
    return f"{kind} {name} = ({operand.expression}); (void){name};"


def _instruction(instruction: Instruction, given: tuple[str, ...]) -> str:
    if instruction.label:
        return f"{instruction.label}:;"
    operands = Operands(instruction, given)
    before = ""
    if instruction.predicate:
        negated, register = instruction.predicate
        before = f"if ({'!' * negated}{operands.one(register)}) "
    return f"{before}{{ {call_of(instruction.mnemonic, operands)}; }}"
