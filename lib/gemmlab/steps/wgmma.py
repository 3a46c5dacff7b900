"""Part IV: a warpgroup multiplies what stays in shared memory (wgmma), on sm_90 only.

Shared memory includes the mbarriers, 8 bytes each, two a stage from wgmma_03_producer on, and from
wgmma_04_store on two buffers of 2 KB for each warp's part of C. A thread's sums are pairs of
columns in two rows of each 64.
"""

from __future__ import annotations

from ..core.layout import LAYOUTS
from ..core.precision import HALF
from .spec import KernelSpec, step

_COPIED = {
    "precisions": HALF,
    "alignment": 16,
    "multiple_of": (1, 8, 8),
    "min_arch": 90,
    "max_arch": 90,
}
# Two consumers of 64x256 each, and a producer.
_WIDE = {"tile": (128, 256, 64), "thread_tile": (2, 64), "threads": 384, "stages": 4}
_CUTS = ((3, 32, 0), (1, 32, 0))

STEPS: tuple[KernelSpec, ...] = (
    step(
        "wgmma_01_one_warpgroup",
        idea="four warps multiply together, out of shared memory: an operand is a descriptor",
        tile=(64, 128, 64),
        thread_tile=(2, 32),
        threads=128,
        shared_bytes=24584,
        parent="tma_01_load",
        **_COPIED,
    ),
    step(
        "wgmma_02_stages",
        idea="two warpgroups share 256 columns of B, and four stages are under way",
        shared_bytes=196640,
        parent="wgmma_01_one_warpgroup",
        **{**_WIDE, "threads": 256},
        **_COPIED,
    ),
    step(
        "wgmma_03_producer",
        idea="a third warpgroup only asks for tiles, and gives its registers to the others",
        shared_bytes=196672,
        parent="wgmma_02_stages",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_04_store",
        idea="C by stmatrix and the copy engine, each warp for itself",
        shared_bytes=229440,
        parent="wgmma_03_producer",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_05_persistent",
        idea="one block an SM, whose producer is already at the next tile",
        shared_bytes=229440,
        persistent=True,
        parent="wgmma_04_store",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_06_cluster",
        idea="two blocks above each other share the columns of B: multicast",
        shared_bytes=229440,
        persistent=True,
        parent="wgmma_05_persistent",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_07_deferred",
        idea="a tile waits in registers and leaves while the next one is multiplied",
        shared_bytes=229440,
        persistent=True,
        parent="wgmma_06_cluster",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_08_order",
        idea="the order of work: fewest clusters, there and back in k and in columns, C out first",
        shared_bytes=229440,
        persistent=True,
        parent="wgmma_07_deferred",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_09_stream_k",
        idea="tiles of the last wave are cut along k, at the end, where it pays",
        shared_bytes=229440,
        persistent=True,
        workspace=True,
        cuts=_CUTS,
        parent="wgmma_08_order",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_10_in_step",
        idea="all clusters begin a wave together, and find in the L2 what another has read",
        shared_bytes=229440,
        persistent=True,
        workspace=True,
        cuts=_CUTS,
        parent="wgmma_09_stream_k",
        **_WIDE,
        **_COPIED,
    ),
    step(
        "wgmma_11_large_tile",
        idea="256x192 a block reads less from the L2 for each product",
        tile=(256, 192, 64),
        thread_tile=(4, 48),
        threads=384,
        shared_bytes=204848,
        stages=3,
        persistent=True,
        workspace=True,
        cuts=_CUTS,
        parent="wgmma_10_in_step",
        **_COPIED,
    ),
    step(
        "wgmma_12_small",
        idea="64x128 for small products, and a launch that begins before its turn",
        tile=(64, 128, 64),
        thread_tile=(2, 32),
        threads=256,
        shared_bytes=213120,
        stages=8,
        parent="wgmma_03_producer",
        **_COPIED,
    ),
    step(
        "wgmma_13_ping_pong",
        idea="two consumers take turns: one stores while the other multiplies",
        tile=(128, 128, 64),
        thread_tile=(4, 32),
        threads=384,
        shared_bytes=229488,
        stages=6,
        persistent=True,
        parent="wgmma_12_small",
        **_COPIED,
    ),
    step(
        "wgmma_14_any_shape",
        idea="any M, N, K, alignment and layout: thirteen plans in one loop, and copies where rows "
        "are not aligned",
        tile=(128, 256, 64),
        thread_tile=(2, 64),
        threads=384,
        shared_bytes=229440,
        stages=12,
        persistent=True,
        workspace=True,
        cuts=_CUTS,
        parent="wgmma_10_in_step",
        precisions=HALF,
        layouts=LAYOUTS,
        alignment=2,
        multiple_of=(1, 1, 1),
        min_arch=90,
        max_arch=90,
        configs=(
            "128x256",
            "256x192",
            "64x128",
            "128x128 by turns",
            "64x64",
            "128x192",
            "128x256 added",
            "64x128 in pairs",
            "192x128 by turns",
            "192x96 transposed",
            "192x176 transposed",
            "64x16 transposed",
            "128x256 alone",
        ),
        # Of C; their names have the tiles of its transpose.
        config_tiles=(
            ("192x96 transposed", (96, 192, 64)),
            ("192x176 transposed", (176, 192, 64)),
            ("64x16 transposed", (16, 64, 64)),
        ),
    ),
)
