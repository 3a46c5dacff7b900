"""Where bytes stand in shared memory and what a warp's access to them costs: pure NumPy."""

from __future__ import annotations

from .fragments import FRAGMENTS, Fragment, Holder, fragment
from .mbarrier.model import Mbarrier, Ring
from .mbarrier.run import run_ring
from .mbarrier.words import outcome
from .pipeline.model import Pipeline
from .schedules.evenly import Schedule, waves_paid
from .schedules.last_wave import LastWave
from .schedules.owners import Owners
from .shared import ldmatrix
from .shared.access import PRESETS, Access, Layout, Tile, locate
from .shared.banks import Phase, Request, Word, describe, sectors, wavefronts
from .shared.copies import copy
from .shared.swizzle import (
    BitXor,
    Swizzle,
    find_swizzle,
    for_columns,
    padded,
    row_major,
    transposed_a_column,
)
from .tiling.block_order import BlockOrder
from .tiling.occupancy import GPUS, Limits, Occupancy, Waves, occupancy, waves
from .tiling.tiling import STEPS, Tiling
from .tma.tensor_map import Arguments, Box, TensorMap
from .tma.words import describe_map

__all__ = [
    "FRAGMENTS",
    "GPUS",
    "PRESETS",
    "STEPS",
    "Access",
    "Arguments",
    "BitXor",
    "BlockOrder",
    "Box",
    "Fragment",
    "Holder",
    "LastWave",
    "Layout",
    "Limits",
    "Mbarrier",
    "Occupancy",
    "Owners",
    "Phase",
    "Pipeline",
    "Request",
    "Ring",
    "Schedule",
    "Swizzle",
    "TensorMap",
    "Tile",
    "Tiling",
    "Waves",
    "Word",
    "copy",
    "describe",
    "describe_map",
    "find_swizzle",
    "for_columns",
    "fragment",
    "ldmatrix",
    "locate",
    "occupancy",
    "outcome",
    "padded",
    "row_major",
    "run_ring",
    "sectors",
    "transposed_a_column",
    "wavefronts",
    "waves",
    "waves_paid",
]
