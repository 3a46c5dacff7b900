"""The text of a second build, which counts cycles: each kernel also says when its blocks ran.

A step's own text stays as it is. In this copy, all project headers stand in place, and each
`__global__` function begins and ends with a call of kernels/probes/block_clock.cuh.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..core.paths import kernels_folder
from .text import inlined_text

_GLOBAL = re.compile(r"\b__global__\b")
_BEGIN, _END = " block_clock_begin({index});", " block_clock_end({index}); "


@dataclass(frozen=True)
class Clocked:
    """CUDA text whose kernels write down when their blocks ran, and how many kernels there are."""

    text: str
    kernels: int


def header() -> Path:
    """The file that declares what reads the clocks."""
    return kernels_folder() / "probes" / "block_clock.cuh"


def clocked(cuda: str) -> Clocked:
    """A CUDA text with its project headers in place, and clocks read in each of its kernels."""
    text = inlined_text(f'#include "{header()}"\n{cuda}', kernels_folder())
    bodies = [body for found in _GLOBAL.finditer(text) if (body := _body(text, found.end()))]
    parts, at = [], 0
    for index, (begin, end) in enumerate(bodies):
        parts += [text[at:begin], _BEGIN.format(index=index)]
        parts += [text[begin:end], _END.format(index=index)]
        at = end
    return Clocked("".join([*parts, text[at:]]), len(bodies))


def _body(text: str, start: int) -> tuple[int, int] | None:
    """Where a function's body begins, behind its brace, and where it ends, in front of the other
    one; None for a declaration without a body."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0 and text[place] in "{;":
            return (place + 1, _closing(text, place + 1)) if text[place] == "{" else None
    return None


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes the one in front of `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)
