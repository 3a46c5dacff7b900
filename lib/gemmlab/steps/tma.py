"""Part III: the copy engine (TMA) brings tiles of 16 bits and takes them away, from sm_90 on.

Shared memory includes the mbarriers, 8 bytes each: one a stage, from tma_04_producer_warp on two.
"""

from __future__ import annotations

from ..core.precision import HALF
from .spec import KernelSpec, step

_COPIED = {"precisions": HALF, "alignment": 16, "min_arch": 90}

STEPS: tuple[KernelSpec, ...] = (
    step(
        "tma_01_load",
        idea="one thread names a box, the copy engine brings it, swizzled; an mbarrier tells all",
        tile=(128, 128, 64),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=98328,
        stages=3,
        parent="hgemm_17_stages",
        seed=("002/hgemm_tma_r_k_stages_64",),
        departs=(
            "one set of fragments, where the article has two, which compile to the same order "
            "of ldmatrix and mma.sync on sm_90a (experiment: tma 01, two sets of fragments); "
            "tiles aligned to 1024 bytes, a fence after mbarrier_init, tensor maps prefetched, "
            "no time limit in try_wait, .shared::cluster; strips of 8 rows of tiles, where the "
            "article's have 8 columns; loop rotated, its last iteration not peeled"
        ),
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
        stages=3,
        parent="tma_01_load",
        seed=("002/hgemm_tma_r_k_stages_32",),
        departs=(
            "one set of fragments, where the article has two, which compile to the same order "
            "of ldmatrix and mma.sync on sm_90a (experiment: tma 02, two sets of fragments); "
            "tiles aligned to 1024 bytes, a fence after mbarrier_init, tensor maps prefetched, "
            "no time limit in try_wait, .shared::cluster; strips of 8 rows of tiles, where the "
            "article's have 8 columns; loop rotated, its last iteration not peeled"
        ),
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
        stages=3,
        parent="tma_01_load",
        seed=("002/hgemm_tma_rw_k_stages",),
        departs=(
            "only announced in the article: the design is the course's; BK 64, where the "
            "article's best has 32 (experiment: tma 03, BK = 32); M and N need not be "
            "multiples of the tile"
        ),
        multiple_of=(1, 8, 8),
        **_COPIED,
    ),
    step(
        "tma_04_producer_warp",
        idea="a ninth warp only asks for tiles; mbarriers say full and empty, and no block barrier",
        tile=(128, 128, 64),
        thread_tile=(8, 8),
        threads=288,
        shared_bytes=98352,
        stages=3,
        parent="tma_03_store",
        multiple_of=(1, 8, 8),
        **_COPIED,
    ),
    step(
        "tma_05_wide_tile",
        idea="256x128 a block, 64x64 a warp, "
        "with the registers that a producer warpgroup gives back",
        tile=(256, 128, 64),
        thread_tile=(16, 8),
        threads=384,
        shared_bytes=213104,
        stages=3,
        parent="tma_04_producer_warp",
        multiple_of=(1, 8, 8),
        **_COPIED,
    ),
    step(
        "tma_06_persistent",
        idea="one block an SM: C leaves while the next tile is loaded and multiplied",
        tile=(256, 128, 64),
        thread_tile=(16, 8),
        threads=384,
        shared_bytes=213104,
        stages=3,
        persistent=True,
        parent="tma_05_wide_tile",
        multiple_of=(1, 8, 8),
        **_COPIED,
    ),
    step(
        "tma_07_stream_k",
        idea="tiles of an incomplete wave are cut along k, each warp adds up its part, if it pays",
        tile=(256, 128, 64),
        thread_tile=(16, 8),
        threads=384,
        shared_bytes=213104,
        stages=3,
        persistent=True,
        cuts=((3, 48, 2), (2, 48, 5), (6, 13, 0)),
        parent="tma_06_persistent",
        multiple_of=(1, 8, 8),
        workspace=True,
        **_COPIED,
    ),
    step(
        "tma_08_any_shape",
        idea="any M, N, K and alignment: six tiles, and copies where there is no tensor map",
        tile=(128, 64, 64),
        thread_tile=(8, 4),
        threads=288,
        shared_bytes=180384,
        stages=6,
        persistent=True,
        cuts=((3, 48, 2), (2, 48, 5), (4, 11, 0)),
        least_shared_bytes=82016,
        parent="tma_07_stream_k",
        precisions=HALF,
        layouts=("nn", "nt"),
        alignment=2,
        multiple_of=(1, 1, 1),
        min_arch=90,
        workspace=True,
        configs=("256x128", "128x128", "128x64", "128x64 two stages", "64x64", "16x128"),
    ),
)
