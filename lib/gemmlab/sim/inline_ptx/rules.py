"""How an instruction's rule is written down, and which of its modifiers say nothing here."""

from __future__ import annotations

import re
from collections.abc import Callable

from .operands import Operands

# From a mnemonic that the pattern fits and its operands to a call in C++.
Rule = Callable[[re.Match[str], Operands], str]

# What a cache or a scheduler may do with it, which the simulator does not have.
_HINTS = re.compile(
    r"\.(L1|L2)::(evict_\w+|no_allocate|\d+B)|\.(L1|L2)::cache_hint|\.(nc|uni|approx|ftz)(?=\.|$)"
    r"|\.level::\w+"
)

TYPES = {
    **{f"{letter}{bits}": f"uint{bits}_t" for letter in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{"f32": "float", "f64": "double"},
}
HALVES = {"f16": "__half", "bf16": "__nv_bfloat16"}
SPACES = {"shared": "Shared", "global": "Global", "": "Global"}


def plain(mnemonic: str) -> tuple[str, bool]:
    """The mnemonic without hints, and whether one of them has an operand, the last one."""
    return _HINTS.sub("", mnemonic), "::cache_hint" in mnemonic


def call(function: str, *arguments: str, line: bool = False) -> str:
    """A call of a function of inline_ptx.h. line: it is told where it stands."""
    first = ("__LINE__",) if line else ()
    return f"gemmlab_ptx::{function}({', '.join((*first, *filter(None, arguments)))})"


def tie(registers: list[str]) -> str:
    """Several registers as one argument."""
    return f"std::tie({', '.join(registers)})"
