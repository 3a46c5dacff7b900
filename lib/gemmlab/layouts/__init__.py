"""Where bytes stand in shared memory and what a warp's access to them costs: pure NumPy."""

from __future__ import annotations

from .access import PRESETS, Access, Layout, Tile, locate
from .banks import Phase, Request, Word, describe, sectors, wavefronts
from .block_order import BlockOrder
from .fragments import FRAGMENTS, Fragment, Holder, fragment
from .occupancy import GPUS, Limits, Occupancy, Waves, occupancy, waves
from .pipeline import Pipeline
from .swizzle import Swizzle, find_swizzle, for_columns, padded, row_major, transposed_a_column
from .tensor_map import TensorMap
from .tiling import STEPS, Tiling
from .tma_box import Box

__all__ = [
    "FRAGMENTS",
    "GPUS",
    "PRESETS",
    "STEPS",
    "Access",
    "BlockOrder",
    "Box",
    "Fragment",
    "Holder",
    "Layout",
    "Limits",
    "Occupancy",
    "Phase",
    "Pipeline",
    "Request",
    "Swizzle",
    "TensorMap",
    "Tile",
    "Tiling",
    "Waves",
    "Word",
    "describe",
    "find_swizzle",
    "for_columns",
    "fragment",
    "locate",
    "occupancy",
    "padded",
    "row_major",
    "sectors",
    "transposed_a_column",
    "wavefronts",
    "waves",
]
