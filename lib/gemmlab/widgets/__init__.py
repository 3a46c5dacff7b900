"""Interactive figures: live in JupyterLab, responsive in the static book, else a picture."""

from __future__ import annotations

from .bank_map import BankMap
from .block_order import BlockOrder
from .coalescing import Coalescing
from .fragment_map import FragmentMap
from .heat_map import HeatMap, Metric
from .ladder import Ladder
from .machine import Machine
from .mbarrier_timeline import MbarrierTimeline
from .multicast_map import MulticastMap
from .pipeline_timeline import PipelineTimeline
from .predict import Predict, predict
from .register_tile import RegisterTile
from .replay import Replay, replay
from .swizzle_workshop import SwizzleWorkshop
from .tensor_map_fields import TensorMapFields
from .tile_traffic import TileTraffic
from .tiling_explorer import TilingExplorer
from .tma_box import TmaBox
from .trace_view import TraceView
from .walk import Walk
from .warpgroup_sums import WarpgroupSums
from .warpgroup_timeline import WarpgroupTimeline
from .wgmma_operand import WgmmaOperand

__all__ = [
    "BankMap",
    "BlockOrder",
    "Coalescing",
    "FragmentMap",
    "HeatMap",
    "Ladder",
    "Machine",
    "MbarrierTimeline",
    "Metric",
    "MulticastMap",
    "PipelineTimeline",
    "Predict",
    "RegisterTile",
    "Replay",
    "SwizzleWorkshop",
    "TensorMapFields",
    "TileTraffic",
    "TilingExplorer",
    "TmaBox",
    "TraceView",
    "Walk",
    "WarpgroupSums",
    "WarpgroupTimeline",
    "WgmmaOperand",
    "predict",
    "replay",
]
