"""How a kernel's source aligns its dynamic shared array."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.errors import ArgumentError
from ..layouts.shared import formula
from ..steps.cuda_text import without_comments

# nvcc aligns every such array so, whatever its declaration says.
LEAST = 16
# What a declaration is taken to ask for if its words are not understood: the most that is of use.
MOST = 1024

_END = re.compile(r"([;{}])")
_DECLARATION = re.compile(r"\bextern\b.*\b__shared__\b", re.DOTALL)
_ASKED = re.compile(r"\b(?:__align__|alignas|aligned)\s*\(([^()]*)\)")


# A type of the reader's own, of which the members may ask for more.
_OWN_TYPE = re.compile(
    r"\b__shared__\s+(?!.*\b(?:void|bool|char|short|int|long|unsigned|signed|float|double|half2?|"
    r"__half2?|u?int\d+_t|size_t|std|(?:u?char|u?short|u?int|float|double)[1-4])\b)",
    re.DOTALL,
)


def dynamic_alignment(texts: Iterable[str]) -> int:
    """Bytes of which the address of `extern __shared__ ... smem[]` is a multiple, and no more.

    texts: the kernel's file and all that it includes. Where declarations differ, the strictest; for
    an object of a type of their own, the strictest that the texts ask for anywhere.
    """
    plain = [without_comments(text) for text in texts]
    asked: list[int] = []
    for declaration in (found for text in plain for found in _declarations(text)):
        own = _ASKED.findall(declaration)
        if not own and _OWN_TYPE.search(declaration):
            own = [words for text in plain for words in _ASKED.findall(text)]
        asked += map(_bytes, own)
    return max([LEAST, *asked])


def _declarations(text: str) -> list[str]:
    """Those of arrays whose size the launch gives. One pattern for it all would take seconds."""
    parts = _END.split(text)
    ended = zip(parts[::2], parts[1::2], strict=False)
    return [part for part, end in ended if end == ";" and _DECLARATION.search(part)]


def _bytes(words: str) -> int:
    """The number that an attribute names."""
    try:
        number = formula.expression(words.strip(), {})({})
    except ArgumentError:
        return MOST
    return number if number > 0 and number & (number - 1) == 0 else MOST
