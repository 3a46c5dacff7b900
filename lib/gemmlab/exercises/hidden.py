"""What an answer may not know: its compiler, the machine, the time, what a launch before has left.

A kernel that is one thing in the simulator and another on a GPU, in the tenth launch or tomorrow,
is not what a judge has looked at. None of this is found by running it.
"""

from __future__ import annotations

import re

from ..run.kernel import Kernel
from ..sim.kept import foreign_functions, kept_variables, predefined_macros
from ..steps import registry
from ..steps.cuda_text import without_comments
from .properties import NotYetError

_DIRECTIVE = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)")
_DEFINED = re.compile(r"^\s*#\s*define\s+(\w+)")
_CONSTANT = re.compile(r"^\s*(?:static\s+)?__constant__\b")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
# What no list of g++ has: nvcc's own, and what changes from place to place.
_NVCC = re.compile(r"__(?:CUDA|NV)\w*_\w*|__CUDACC__|__NVCC__|__has_include|__FILE__|__BASE_FILE__")


def refuse_hidden(handle: Kernel) -> None:
    """Refuse conditions on the compiler, questions to the machine, variables that are kept."""
    own = _own_lines(handle)
    _refuse_compilers(handle, own)
    if world := foreign_functions(handle):
        raise NotYetError(
            f"it calls {world[0]}, which tells it something of the machine or the moment; each "
            "launch is to compute its product from A and B alone"
        )
    words = set(_WORD.findall("\n".join(own.values())))
    # A kernel cannot write what is __constant__.
    words -= {
        word for line in own.values() if _CONSTANT.match(line) for word in _WORD.findall(line)
    }
    for name, size in kept_variables(handle):
        if found := next((word for word in words if _is_called(name, word)), None):
            raise NotYetError(
                f"{found} ({size:,} bytes) is kept from one launch to the next; each launch is to "
                "compute its product from A and B alone, in registers and shared memory"
            )


def _refuse_compilers(handle: Kernel, own: dict[int, str]) -> None:
    defined = {match[1] for line in own.values() if (match := _DEFINED.match(line))}
    file = handle.source.path.name
    for number, line in own.items():
        condition = _DIRECTIVE.match(line)
        words = _WORD.findall(line)
        asked = [word for word in words if _is_compilers(word)]
        if condition:
            names = _WORD.findall(condition[1])
            asked += [word for word in names if word not in {*defined, "defined"}]
        if asked:
            raise NotYetError(
                f"{file}:{number}: {asked[0]} may differ from one compiler to another; the answer "
                "is to be the same text for the simulator and for a GPU"
            )


def _own_lines(handle: Kernel) -> dict[int, str]:
    """The lines of the kernel's text, by number, that are not its parent's as well."""
    parent = registry.program(handle.parent).source.path.read_text() if handle.parent else ""
    known = set(parent.splitlines())
    lines = without_comments(handle.source.path.read_text()).splitlines()
    return {n: line for n, line in enumerate(lines, 1) if line not in known}


def _is_compilers(word: str) -> bool:
    return bool(_NVCC.fullmatch(word)) or word in predefined_macros()


def _is_called(symbol: str, word: str) -> bool:
    """Whether the variable of a symbol has this name: gA, _ZL2gA, _ZZ4workvE5calls, _ZN1n2gAE."""
    return symbol == word or symbol.removesuffix("E").endswith(f"{len(word)}{word}")
