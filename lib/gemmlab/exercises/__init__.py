"""Judges for the book's exercises: each returns a verdict with a hint, and wrong answers fail."""

from __future__ import annotations

from .block_order import block_order
from .copies import copies
from .expects import expects
from .fragment import fragment_layout
from .kernel import judge
from .properties import (
    Property,
    ahead,
    arrivals,
    barriers,
    block_tile,
    cuts,
    only,
    order,
    outputs,
    overlap,
    products,
    reads_once,
    requests,
    stages,
    stored_before_products,
    widths,
)
from .rearranged import other_parity
from .ring import parities, ring
from .swizzle16 import swizzle16
from .tensor_map import box_source
from .tiles import mapping, swizzle, thread_tile, warp_tile
from .track import rung
from .verdict import Verdict

__all__ = [
    "Property",
    "Verdict",
    "ahead",
    "arrivals",
    "barriers",
    "block_order",
    "block_tile",
    "box_source",
    "copies",
    "cuts",
    "expects",
    "fragment_layout",
    "judge",
    "mapping",
    "only",
    "order",
    "other_parity",
    "outputs",
    "overlap",
    "parities",
    "products",
    "reads_once",
    "requests",
    "ring",
    "rung",
    "stages",
    "stored_before_products",
    "swizzle",
    "swizzle16",
    "thread_tile",
    "warp_tile",
    "widths",
]
