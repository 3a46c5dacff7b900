"""Loads, stores and atomics, and addresses."""

from __future__ import annotations

import re

from .operands import Operands
from .rules import SPACES, TYPES, Rule, call

_ORDER = (
    r"(?P<strong>\.volatile|\.(?:relaxed|acquire|release|acq_rel)(?:\.(?:cta|cluster|gpu|sys))?)?"
)
_SPACE = r"(?:\.(?P<space>shared|global)(?:::cta)?)?"
_CACHE = r"(?:\.(?:ca|cg|cs|lu|cv|wb|wt))?"
_TYPE = r"\.(?P<type>[bus](?:8|16|32|64)|f32|f64)"
_ATOMICS = {
    "add": "ADD",
    "min": "MIN",
    "max": "MAX",
    "and": "AND",
    "or": "OR",
    "xor": "XOR",
    "exch": "EXCHANGE",
}
_ATOMIC_TYPES = {
    "b32": ("U32", "unsigned"),
    "u32": ("U32", "unsigned"),
    "s32": ("I32", "int"),
    "b64": ("U64", "unsigned long long"),
    "u64": ("U64", "unsigned long long"),
    "s64": ("I64", "long long"),
    "f32": ("F32", "float"),
    "f64": ("F64", "double"),
}


def _access(found: re.Match[str]) -> str:
    return f"<gemmlab_ptx::{SPACES[found['space'] or '']}, {TYPES[found['type']]}>"


def _load(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    address, registers = operands.address(1).base, operands.vector(0)
    if found["strong"] and not found["vector"]:
        acquired = "; __threadfence()" if "acq" in found["strong"] else ""
        return call(f"ld_volatile{_access(found)}", address, *registers) + acquired
    return call(f"ld{_access(found)}", address, *registers)


def _store(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    address, values = operands.address(0).base, operands.vector(1)
    if found["strong"] and not found["vector"]:
        released = "__threadfence(); " if "rel" in found["strong"].replace("relaxed", "") else ""
        return released + call(f"st_volatile{_access(found)}", address, *values)
    return call(f"st{_access(found)}", address, *values)


def _load_cluster(found: re.Match[str], operands: Operands) -> str:
    return call("ld_cluster", operands.address(1).base, operands.value(0))


def _store_cluster(found: re.Match[str], operands: Operands) -> str:
    return call("st_cluster", operands.address(0).base, operands.value(1))


def _atomic(found: re.Match[str], operands: Operands) -> str:
    operands.need(2 if found["kind"] == "red" else 3)
    if found["kind"] == "red":
        operands.texts.insert(0, "_")
    kind, type_ = _ATOMIC_TYPES[found["type"]]
    space = f"gemmlab_ptx::{SPACES[found['space'] or '']}"
    template = f"{space}, SIM_ATOMIC_{_ATOMICS[found['operation']]}, SIM_ATOMIC_{kind}, {type_}"
    return call(f"atom<{template}>", operands.value(0), operands.address(1).base, operands.value(2))


def _compare(found: re.Match[str], operands: Operands) -> str:
    operands.need(4)
    kind, type_ = _ATOMIC_TYPES[found["type"]]
    space = f"gemmlab_ptx::{SPACES[found['space'] or '']}"
    values = [operands.value(2), operands.value(3)]
    function = f"atom_cas<{space}, SIM_ATOMIC_{kind}, {type_}>"
    return call(function, operands.value(0), operands.address(1).base, *values)


def _to_address(function: str) -> Rule:
    return lambda found, operands: call(function, operands.value(0), operands.value(1))


_SCOPE = r"(?:\.(?:relaxed|acquire|release|acq_rel))?(?:\.(?:cta|cluster|gpu|sys))?"
RULES: dict[str, Rule] = {
    rf"ld{_ORDER}{_SPACE}{_CACHE}(?P<vector>\.v[248])?{_TYPE}": _load,
    rf"st{_ORDER}{_SPACE}{_CACHE}(?P<vector>\.v[248])?{_TYPE}": _store,
    r"ld\.shared::cluster\.[bufs]32": _load_cluster,
    r"st\.shared::cluster\.[bufs]32": _store_cluster,
    rf"(?P<kind>red|atom){_SCOPE}{_SPACE}{_SCOPE}\.(?P<operation>add|min|max|and|or|xor|exch)"
    r"\.(?P<type>[bus](?:32|64)|f32|f64)": _atomic,
    rf"atom{_SCOPE}{_SPACE}{_SCOPE}\.cas\.(?P<type>[bu](?:32|64))": _compare,
    r"cvta\.to\.shared\.u(?:32|64)": _to_address("cvta_to_shared"),
    r"cvta\.shared\.u(?:32|64)": _to_address("cvta_shared"),
    r"cvta(?:\.to)?\.global\.u64": _to_address("mov<uint64_t>"),
}
