"""The text of a second build, which counts cycles: each kernel also says when its blocks ran.

A step's own text stays as it is. In this copy, all project headers stand in place, and each
`__global__` function begins and ends with a call of kernels/probes/block_clock.cuh.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..core.paths import kernels_folder
from .cuda_text import closing, masked
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
    code = masked(text)
    bodies = [body for found in _GLOBAL.finditer(code) if (body := _body(code, found.end()))]
    parts, at = [], 0
    for index, (begin, end) in enumerate(bodies):
        parts += [text[at:begin], _BEGIN.format(index=index)]
        parts += [text[begin:end], _END.format(index=index)]
        at = end
    return Clocked("".join([*parts, text[at:]]), len(bodies))


def _body(code: str, start: int) -> tuple[int, int] | None:
    """Where a function's body begins, behind its brace, and where it ends, in front of the other
    one; None for a declaration without a body. code: masked."""
    depth = 0
    for place in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0 and code[place] in "{;":
            end = closing(code, place) if code[place] == "{" else -1
            return (place + 1, end) if end > 0 else None
    return None
