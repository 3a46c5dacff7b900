"""Evidence for the simulator: its counts and findings beside those of the hardware."""

from __future__ import annotations

from .counters import agreement, conflicts
from .kernels import sanitizer, whole_kernels
from .mutants import recorded_mutants
from .patterns import copies_past_l1, single_requests
from .wmma_fragments import measured_fragment, recorded_fragments

__all__ = [
    "agreement",
    "conflicts",
    "copies_past_l1",
    "measured_fragment",
    "recorded_fragments",
    "recorded_mutants",
    "sanitizer",
    "single_requests",
    "whole_kernels",
]
