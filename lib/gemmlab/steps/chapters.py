"""Which chapter of the book teaches which steps: what a bar, a strip or a list leads to."""

from __future__ import annotations

from ..core.arguments import choice
from . import registry

# Chapter -> the last of its steps, in the order of the book; the first letters are the family.
_LAST: dict[str, str] = {
    "sgemm_naive": "02",
    "sgemm_block_tiling": "03",
    "sgemm_register_tiling": "04",
    "sgemm_bank_conflicts": "06",
    "sgemm_write_back": "07",
    "sgemm_double_buffering": "08",
    "sgemm_warp_tiling": "13",
    "sgemm_async_copies": "14",
    "sgemm_thread_tile": "15",
    "sgemm_pipeline": "17",
    "sgemm_block_order": "18",
    "sgemm_stream_k": "19",
    "sgemm_any_shape": "20",
    "hgemm_mixed_precision": "05",
    "hgemm_wmma": "06",
    "hgemm_wmma_pipeline": "09",
    "hgemm_mma": "10",
    "hgemm_swizzle": "12",
    "hgemm_large_tile": "14",
    "hgemm_write_back": "16",
    "hgemm_stages": "17",
    "hgemm_wide_tile": "18",
    "hgemm_stream_k": "19",
    "hgemm_any_shape": "20",
    "tma_mbarriers": "01",
    "tma_swizzle": "02",
    "tma_store": "03",
    "tma_producer_warp": "04",
    "tma_wide_tile": "05",
    "tma_persistent": "06",
    "tma_any_shape": "08",
    "wgmma_instruction": "01",
    "wgmma_warpgroups": "03",
    "wgmma_store": "05",
    "wgmma_clusters": "06",
    "wgmma_deferred": "07",
    "wgmma_order": "10",
    "wgmma_energy": "11",
    "wgmma_small": "12",
    "wgmma_ping_pong": "13",
    "wgmma_any_shape": "14",
}
CHAPTERS = tuple(_LAST)


def number_of(step: str) -> str:
    """The number in a step's name: "06" of "sgemm_06_swizzled_a", "03b" where one came between."""
    return step.split("_")[1]


def chapter_of(step: str) -> str | None:
    """The chapter that teaches a step, or None for a kernel that is no step of the course."""
    if step not in registry.names():
        return None
    family = step.partition("_")[0]
    found = (name for name in CHAPTERS if name.startswith(f"{family}_"))
    return next((name for name in found if number_of(step) <= _LAST[name]), None)


def steps_of(chapter: str) -> tuple[str, ...]:
    """The steps that a chapter teaches. Raises ArgumentError for another name."""
    choice("chapter", chapter, CHAPTERS)
    return tuple(step for step in registry.names() if chapter_of(step) == chapter)
