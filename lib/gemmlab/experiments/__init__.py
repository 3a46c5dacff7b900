"""What single chapters measure: variants of steps, pitfalls, faults, tensor-core ceilings.

Three functions have the name of the module that they stand in: `gemmlab.experiments.pitfalls` is
the function, and inside the package `from .pitfalls import ...` finds the module.
"""

from __future__ import annotations

from .faults.kernels import fault
from .faults.table import tma_faults
from .faults.try_wait import try_wait
from .pitfalls import pitfalls
from .ring import RING_MISTAKES, ring_findings, try_ring
from .subtiles import subtiles
from .tensor_cores.ceilings import tensor_cores
from .variants import experiment

__all__ = [
    "RING_MISTAKES",
    "experiment",
    "fault",
    "pitfalls",
    "ring_findings",
    "subtiles",
    "tensor_cores",
    "tma_faults",
    "try_ring",
    "try_wait",
]
