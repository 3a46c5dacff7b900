"""Judges for the book's exercises: each returns a verdict with a hint, and wrong answers fail."""

from __future__ import annotations

from .block_order import block_order
from .copies import copies
from .fragment import fragment_layout
from .kernel import judge
from .ring import parities, ring
from .swizzle16 import swizzle16
from .tensor_map import box_source
from .tiles import mapping, swizzle, thread_tile, warp_tile
from .verdict import Verdict

__all__ = [
    "Verdict",
    "block_order",
    "box_source",
    "copies",
    "fragment_layout",
    "judge",
    "mapping",
    "parities",
    "ring",
    "swizzle",
    "swizzle16",
    "thread_tile",
    "warp_tile",
]
