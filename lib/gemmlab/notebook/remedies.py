"""What a compiler's words about PTX functions mean, and what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..core.paths import kernels_folder

# g++: 'x' was not declared   nvcc: identifier "x" is undefined
_UNDECLARED = re.compile(r"'(\w+)' was not declared|identifier \"(\w+)\" is undefined")
_NO_MATCH = re.compile(r"no matching function for call to '(\w+)|function template \"(\w+)\"")
# g++: from 'float*' to 'uint32_t'   nvcc: of type "float *" is ... with ... of type "uint32_t"
_POINTER = re.compile(r"[*]['\"].* (?:to|of type) ['\"]uint32_t['\"]")
# g++: cannot convert 'float' to 'const void*'   nvcc: the same words as above, or for a class
# no suitable conversion function from "const CUtensorMap" to "const CUtensorMap *"
_VALUE = re.compile(
    r"(?:cannot convert|argument of type|conversion function from) ['\"][^*'\"]+['\"]"
    r".* (?:to|of type) ['\"][^*'\"]+[*]['\"]"
)
_FUNCTION = re.compile(
    r"(?:template <int (?P<constant>\w+)>\n)?"
    r"__device__ __forceinline__ [\w ]+?[ *](?P<name>\w+)\((?P<parameters>[^)]*)"
)


@dataclass(frozen=True)
class _Function:
    """Of kernels/ptx. constant: the name of its template argument, "" if it has none."""

    header: str
    constant: str
    has_parameters: bool


def remedy(text: str, code: str) -> str:
    """What to write instead, behind a compiler's message; "" where it says enough.

    code: the line.
    """
    known = _functions()
    if found := _UNDECLARED.search(text):
        one = known.get(found[1] or found[2])
        return f"; write #include <ptx/{one.header}> above the kernel" if one else ""
    if found := _NO_MATCH.search(text):
        name = found[1] or found[2]
        return _constant(name, known[name]) if name in known and known[name].constant else ""
    called = [name for name in re.findall(r"(\w+)(?:<[^<>]*>)?\(", code) if name in known]
    if not called:
        return ""
    if _POINTER.search(text):
        return (
            f"; {called[0]} takes an address in shared memory as a number, not as a pointer: write "
            "smem_addr(...) around the pointer (#include <ptx/smem.cuh>)"
        )
    if _VALUE.search(text):
        return "; the address is asked for, and this is what stands there: write & before it"
    return ""


def _constant(name: str, one: _Function) -> str:
    """How to call a function with a template argument."""
    arguments = "..." if one.has_parameters else ""
    example = f"{name}<{16 if one.constant == 'BYTES' else 0}>({arguments})"
    return (
        f"; {one.constant} of {name} stands between < and > and is a constant, as in {example}. No "
        "variable can stand there: where it changes during the run, choose by an if between two "
        "calls"
    )


@cache
def _functions() -> dict[str, _Function]:
    """By name, those of kernels/ptx."""
    files = sorted((kernels_folder() / "ptx").glob("*.cuh"))
    return {
        match["name"]: _Function(file.name, match["constant"] or "", bool(match["parameters"]))
        for file in files
        for match in _FUNCTION.finditer(file.read_text())
    }
