"""How a kernel's source aligns its dynamic shared array."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.errors import ArgumentError
from ..layouts.shared import formula
from ..steps.text import without_comments

# nvcc aligns every such array so, whatever its declaration says.
LEAST = 16
# What a declaration is taken to ask for if its words are not understood: the most that is of use.
MOST = 1024

_DECLARATION = re.compile(r"[^;{}]*\bextern\b[^;{}]*\b__shared__\b[^;{}]*;")
_ASKED = re.compile(r"\b(?:__align__|alignas|aligned)\s*\(([^()]*)\)")


def dynamic_alignment(texts: Iterable[str]) -> int:
    """Bytes of which the address of `extern __shared__ ... smem[]` is a multiple, and no more.

    texts: the kernel's file and all that it includes. Where declarations differ, the strictest.
    """
    asked = [
        _bytes(words)
        for text in texts
        for declaration in _DECLARATION.findall(without_comments(text))
        for words in _ASKED.findall(declaration)
    ]
    return max([LEAST, *asked])


def _bytes(words: str) -> int:
    """The number that an attribute names."""
    try:
        number = formula.expression(words.strip(), {})({})
    except ArgumentError:
        return MOST
    return number if number > 0 and number & (number - 1) == 0 else MOST
