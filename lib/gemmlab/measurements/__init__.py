"""What was recorded: rows, tuning trials, files, and where a figure comes from."""

from __future__ import annotations

from .provenance import made_on, origin, origins
from .rows import BASELINES, BenchResult, BenchRow
from .sizes import SHAPES, SHAPES_SGEMM, SHAPES_TMA
from .store import (
    SECTIONS,
    Measurements,
    file_of,
    gpus,
    load,
    paths,
    recorded,
    save,
    sections,
    slug,
    stale,
)
from .trials import TuningTrial

__all__ = [
    "BASELINES",
    "SECTIONS",
    "SHAPES",
    "SHAPES_SGEMM",
    "SHAPES_TMA",
    "BenchResult",
    "BenchRow",
    "Measurements",
    "TuningTrial",
    "file_of",
    "gpus",
    "load",
    "made_on",
    "origin",
    "origins",
    "paths",
    "recorded",
    "save",
    "sections",
    "slug",
    "stale",
]
