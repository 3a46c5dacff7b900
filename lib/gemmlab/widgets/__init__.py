"""What the reader touches: live in JupyterLab, responsive in the static book, else a picture."""

from __future__ import annotations

from .bank_map import BankMap
from .block_order import BlockOrder
from .fragment_map import FragmentMap
from .heat_map import HeatMap, Metric
from .ladder import Ladder
from .mbarrier_timeline import MbarrierTimeline
from .pipeline_timeline import PipelineTimeline
from .predict import Predict, predict
from .swizzle_workshop import SwizzleWorkshop
from .tensor_map_fields import TensorMapFields
from .tiling_explorer import TilingExplorer
from .tma_box import TmaBox
from .trace_view import TraceView

__all__ = [
    "BankMap",
    "BlockOrder",
    "FragmentMap",
    "HeatMap",
    "Ladder",
    "MbarrierTimeline",
    "Metric",
    "PipelineTimeline",
    "Predict",
    "SwizzleWorkshop",
    "TensorMapFields",
    "TilingExplorer",
    "TmaBox",
    "TraceView",
    "predict",
]
