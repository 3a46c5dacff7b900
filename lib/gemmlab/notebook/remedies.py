"""What a compiler's words about PTX functions mean, and what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..core.paths import kernels_folder

INCLUDE = "; write #include "
# g++: 'x' was not declared   nvcc: identifier "x" is undefined
_UNDECLARED = re.compile(r"'(\w+)' was not declared|identifier \"(\w+)\" is undefined")
_NO_MATCH = re.compile(
    r"no matching function for call to '(\w+)"
    r"|(?:function template|overloaded function) \"([\w:]+)\""
)
# g++: 'wmma' has not been declared   nvcc: name followed by "::" must be ...
_NO_NAMESPACE = re.compile(
    r"'(?:wmma|nvcuda)' (?:has not been declared|is not a namespace-name)|must be a (?:class or )?n"
)
_WMMA = re.compile(r"\b(?:wmma|nvcuda)\b")
_NO_LAYOUT = re.compile(r"fragment<nvcuda::wmma::matrix_[ab], [^>]*void>")
_LENGTH = re.compile(r"uint32_t \(&\)\[(\d+)\]")
# g++: from 'float*' to 'uint32_t'   nvcc: of type "float *" is ... with ... of type "uint32_t"
_POINTER = re.compile(r"[*]['\"].* (?:to|of type) ['\"]uint32_t['\"]")
# g++: cannot convert 'float' to 'const void*'   nvcc: the same words as above, or for a class
# no suitable conversion function from "const CUtensorMap" to "const CUtensorMap *"
_VALUE = re.compile(
    r"(?:cannot convert|argument of type|conversion function from) ['\"][^*'\"]+['\"]"
    r".* (?:to|of type) ['\"][^*'\"]+[*]['\"]"
)
_FUNCTION = re.compile(
    r"(?:template <(?:int|class) (?P<constant>\w+)>\n)?"
    r"__device__ __forceinline__ [\w ]+?[ *](?P<name>\w+)\((?P<parameters>[^)]*)"
)
# Of WMMA, whose functions a compiler knows for many types.
_CALLS = {
    "fill_fragment": "fill_fragment(sum, 0.0f): a fragment, and a number of its elements' type",
    "load_matrix_sync": "load_matrix_sync(a, &s[row][column], length): a fragment, the address of "
    "its first element, of the same type as its elements, and the length of a row of s",
    "mma_sync": "mma_sync(sum, a, b, sum): where the sums go, the factors, and what is added to",
    "store_matrix_sync": "store_matrix_sync(&C[first], sum, N, wmma::mem_row_major): an address in "
    "C, of the same type as the elements of sum, the fragment, the length of C's rows, its layout",
}


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
        return f"{INCLUDE}<ptx/{one.header}> above the kernel" if one else ""
    if found := _NO_MATCH.search(text):
        return _call((found[1] or found[2]).rpartition(":")[2])
    if wmma := _of_wmma(text, code):
        return wmma
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
    if found := _LENGTH.search(text):
        return f"; {called[0]} takes an array of exactly {found[1]} uint32_t here"
    return ""


def _of_wmma(text: str, code: str) -> str:
    if _NO_NAMESPACE.search(text) and _WMMA.search(code):
        return f"{INCLUDE}<mma.h> and using namespace nvcuda; above the kernel"
    if _NO_LAYOUT.search(text):
        return (
            "; a fragment of A or B says last how its matrix lies in memory: wmma::row_major, if "
            "the elements of a row are adjacent, or wmma::col_major"
        )
    return ""


def _call(name: str) -> str:
    """How a function is called, if it is one of WMMA or has a template argument."""
    if name in _CALLS:
        return f"; write it as in wmma::{_CALLS[name]}"
    one = _functions().get(name)
    return _constant(name, one) if one and one.constant else ""


def _constant(name: str, one: _Function) -> str:
    """How to call a function with a template argument."""
    arguments = "..." if one.has_parameters else ""
    if one.constant == "T":
        return f"; the type of A and B stands between < and >, as in {name}<__half>({arguments})"
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
