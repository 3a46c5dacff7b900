"""Where bytes stand in shared memory and what a warp's access to them costs: pure NumPy."""

from __future__ import annotations

from .access import PRESETS, Access, Layout, Tile, locate
from .banks import Phase, Request, Word, describe, sectors, wavefronts
from .swizzle import Swizzle, find_swizzle, for_columns, padded, row_major, transposed_a_column

__all__ = [
    "PRESETS",
    "Access",
    "Layout",
    "Phase",
    "Request",
    "Swizzle",
    "Tile",
    "Word",
    "describe",
    "find_swizzle",
    "for_columns",
    "locate",
    "padded",
    "row_major",
    "sectors",
    "transposed_a_column",
    "wavefronts",
]
