"""Arithmetic, comparisons, conversions, moves, branches."""

from __future__ import annotations

import re

from .operands import Operands
from .rules import HALVES, TYPES, Rule, call
from .statement import NotTranslatedError

_TYPE = r"\.(?P<type>[bus](?:8|16|32|64)|f32|f64)"
_ROUND = r"(?:\.r[nzmp]i?)?(?:\.sat)?"
_NAMES = {
    **{name: f"{name}_" for name in ("div", "min", "max", "and", "or", "xor", "not", "abs")},
    **{name: f"{name}_" for name in ("sqrt", "rsqrt", "tanh", "sin", "cos")},
}
_REDUCTIONS = {
    "add.s32": "ADD",
    "add.u32": "ADD",
    "min.u32": "MIN",
    "max.u32": "MAX",
    "min.s32": "MIN_SIGNED",
    "max.s32": "MAX_SIGNED",
    "and.b32": "AND",
    "or.b32": "OR",
    "xor.b32": "XOR",
}


def _typed(found: re.Match[str], operands: Operands) -> str:
    name = found["name"].replace(".lo", "").replace(".", "_")
    return call(f"{_NAMES.get(name, name)}<{TYPES[found['type']]}>", operands.values())


def _pred(found: re.Match[str], operands: Operands) -> str:
    """Logic of predicates."""
    values = [operands.value(number) for number in range(1, len(operands))]
    operator = {"and": " && ", "or": " || ", "xor": " != ", "mov": ""}.get(found[1])
    value = f"!{values[0]}" if operator is None else operator.join(values)
    return f"{operands.value(0)} = {value}"


def _mov(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    bits = found["type"][1:]
    half = {"32": "16", "64": "32"}.get(bits, "")
    packed, unpacked = operands.vector(1), operands.vector(0)
    if len(packed) == 2:
        return call(f"pack{half}", operands.value(0), *packed)
    if len(unpacked) == 2:
        return call(f"unpack{half}", *unpacked, operands.value(1))
    return call(f"mov<{TYPES[found['type']]}>", operands.values())


def _plain(function: str) -> Rule:
    return lambda found, operands: call(function, operands.values())


def _setp(found: re.Match[str], operands: Operands) -> str:
    operands.need(3)
    compare = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(found[1], found[1])
    return call(f"setp_{compare}<{TYPES[found['type']]}>", operands.values())


def _cvt(found: re.Match[str], operands: Operands) -> str:
    to, source = found["to"], found["from"]
    if to in HALVES and source == "f32":
        return call(f"cvt_to_16<{HALVES[to]}>", operands.values())
    if source in HALVES and to == "f32":
        return call(f"cvt_from_16<{HALVES[source]}>", operands.values())
    if to not in TYPES or source not in TYPES:
        raise NotTranslatedError("a conversion of these types")
    is_nearest = found["round"] == ".rni"
    function = "cvt_nearest" if is_nearest else "cvt"
    return call(f"{function}<{TYPES[to]}, {TYPES[source]}>", operands.values())


def _cvt_pair(found: re.Match[str], operands: Operands) -> str:
    operands.need(3)
    return call(f"cvt_to_pair<{HALVES[found[1]]}>", operands.values())


def _fma_pair(found: re.Match[str], operands: Operands) -> str:
    operands.need(4)
    return call(f"fma_pair<{HALVES[found[1]]}>", operands.values())


def _branch(found: re.Match[str], operands: Operands) -> str:
    operands.need(1)
    return f"goto {re.sub(r'[^0-9A-Za-z_]', '_', operands.texts[0].lstrip('%'))}"


def _redux(found: re.Match[str], operands: Operands) -> str:
    operands.need(3)
    operation = f"SIM_REDUCE_{_REDUCTIONS[found[1]]}"
    return call(f"redux<{operation}>", operands.values(), line=True)


RULES: dict[str, Rule] = {
    r"mov\.pred": lambda found, operands: f"{operands.value(0)} = {operands.value(1)}",
    r"(and|or|xor|not)\.pred": _pred,
    rf"mov{_TYPE}": _mov,
    r"setp\.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)" + _TYPE: _setp,
    rf"(?P<name>selp){_TYPE}": _typed,
    r"cvt\.rna\.tf32\.f32": _plain("cvt_to_tf32"),
    r"cvt\.rn(?:\.relu)?\.(bf16|f16)x2\.f32": _cvt_pair,
    r"cvt(?P<round>\.r[nzmp]i?|\.rna)?(?:\.sat)?\.(?P<to>[a-z]+\d+)\.(?P<from>[a-z]+\d+)": _cvt,
    r"fma\.rn\.(bf16|f16)x2": _fma_pair,
    rf"(?P<name>add|sub|div|min|max|neg|abs|rem|mad\.lo|mul\.lo|mul\.wide|mul\.hi|mul|fma|ex2|lg2"
    rf"|rcp|sqrt|rsqrt|tanh|sin|cos|and|or|xor|not|shl|shr|popc|brev|prmt){_ROUND}{_TYPE}": _typed,
    r"lop3\.b32": _plain("lop3"),
    r"vabsdiff4\.u32\.u32\.u32\.add": _plain("vabsdiff4_add"),
    r"redux\.sync\.((?:add|min|max)\.[su]32|(?:and|or|xor)\.b32)": _redux,
    r"bra": _branch,
    r"nanosleep\.u32": lambda found, _: "(void)0",
    r"(?:trap|exit|brkpt)": lambda found, _: "__trap()",
}
