"""Part III: the copy engine (TMA) brings tiles of 16 bits and takes them away, from sm_90 on.

Shared memory includes the mbarriers, 8 bytes a stage.
"""

from __future__ import annotations

from ..precision import HALF
from ..spec import KernelSpec
from ._step import step

_COPIED = {"precisions": HALF, "alignment": 16, "min_arch": 90}

STEPS: tuple[KernelSpec, ...] = (
    step(
        "tma_01_load",
        idea="one thread names a box, the copy engine brings it, swizzled; an mbarrier tells all",
        tile=(128, 128, 64),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=98328,
        parent="hgemm_17_stages",
        seed=("002/hgemm_tma_r_k_stages_64",),
        multiple_of=(128, 128, 8),
        **_COPIED,
    ),
    step(
        "tma_02_two_blocks",
        idea="32 k a tile, A by the 64-byte swizzle: two blocks share 100 KB of shared memory",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=49176,
        parent="tma_01_load",
        seed=("002/hgemm_tma_r_k_stages_32",),
        multiple_of=(128, 128, 8),
        **_COPIED,
    ),
    step(
        "tma_03_store",
        idea="C by the copy engine, too, which stores nothing behind an edge",
        tile=(128, 128, 64),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=98328,
        parent="tma_01_load",
        seed=("002/hgemm_tma_rw_k_stages",),
        multiple_of=(1, 8, 8),
        **_COPIED,
    ),
)
