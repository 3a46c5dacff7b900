"""Part II: 16-bit inputs, fp32 sums; on CUDA cores first, then on tensor cores.

A step's thread tile is how many rows and columns of C the registers of a thread hold, as a product.
"""

from __future__ import annotations

from ..core.precision import HALF
from .spec import KernelSpec, step

_ALIGNED = {"precisions": HALF, "alignment": 16}

STEPS: tuple[KernelSpec, ...] = (
    step(
        "hgemm_01_naive",
        idea="one thread per element of C; 16-bit factors, multiplied and added in fp32",
        tile=(32, 32, 1),
        thread_tile=(1, 1),
        threads=1024,
        shared_bytes=0,
        seed=("001/mp01",),
        departs="only sketched in the article",
        multiple_of=(1, 1, 1),
        precisions=HALF,
        alignment=2,
    ),
    step(
        "hgemm_02_block_tiling",
        idea="a block copies 32x32 tiles of 16 bits to shared memory, converts as it reads",
        tile=(32, 32, 32),
        thread_tile=(1, 1),
        threads=1024,
        shared_bytes=4096,
        parent="hgemm_01_naive",
        seed=("001/mp02",),
        departs="only sketched in the article; eight k of A read at once",
        multiple_of=(32, 32, 32),
        precisions=HALF,
        alignment=2,
    ),
    step(
        "hgemm_03_vectorized",
        idea="a 128x128 tile, 8x8 elements of C per thread, 8 elements a copy, two k of A a load",
        tile=(128, 128, 16),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=8192,
        parent="hgemm_02_block_tiling",
        seed=("001/mp04",),
        departs=(
            "only sketched in the article; 8x8 elements per thread, 256 threads and 16 k per "
            "tile, where the author's code has 16x8, 128 and 32 (experiment: hgemm 03, 16x8 a "
            "thread); two k of A read as one word"
        ),
        multiple_of=(128, 128, 16),
        **_ALIGNED,
    ),
    step(
        "hgemm_04_warp_tiling",
        idea="a warp owns 32x128 of C, a thread 16x8: fewer conversions for each FMA",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=16384,
        parent="hgemm_03_vectorized",
        seed=("001/mp05",),
        departs="only sketched in the article; two k of A read as one word",
        multiple_of=(128, 128, 32),
        **_ALIGNED,
    ),
    step(
        "hgemm_05_warp_subtiles",
        idea="a thread's 16x8 elements in four pieces; the loads of B had no bank conflicts before",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=16384,
        parent="hgemm_04_warp_tiling",
        seed=("001/mp06",),
        departs="only sketched in the article; two k of A read as one word",
        multiple_of=(128, 128, 32),
        **_ALIGNED,
    ),
    step(
        "hgemm_06_wmma",
        idea="the tensor cores multiply 16x16x16 at a time, through nvcuda::wmma; rows padded",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=23040,
        parent="hgemm_05_warp_subtiles",
        seed=("001/09",),
        departs=(
            "rows padded; warps of 64x64, where the author's code has 32x128; B loaded once for"
            " 16 k, not for every fragment of A; C through shared memory, not as a fragment "
            "(experiment with all four as published: hgemm 06, as published)"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_07_wmma_async",
        idea="cp.async copies the tiles past the registers; the block still waits for them",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=23040,
        parent="hgemm_06_wmma",
        seed=("001/10",),
        departs=(
            "as hgemm_06_wmma; copies through L1, where the article's bypass it (experiment: "
            "hgemm 07, as published)"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_08_wmma_double_buffer",
        idea="two buffers: the next tile is on its way during the products, one barrier a tile",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=41984,
        stages=2,
        parent="hgemm_07_wmma_async",
        seed=("001/11",),
        departs=(
            "as hgemm_07_wmma_async; one barrier per tile and the copy after it, where the "
            "article has two barriers and copies before them (experiment: hgemm 08, as "
            "published)"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_09_wmma_pipeline",
        idea="copies, fragments and products of three successive tiles overlap",
        tile=(128, 128, 32),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=41984,
        stages=2,
        parent="hgemm_08_wmma_double_buffer",
        seed=("001/12",),
        departs=(
            "only sketched in the article; as hgemm_07_wmma_async; half tiles are loaded and "
            "multiplied in turn, where the article takes whole tiles; one wait and one barrier "
            "per tile, in its middle, where the author's code has two barriers and waits after "
            "the products (experiments: hgemm 09, whole tiles; hgemm 09, as published)"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_10_mma",
        idea="mma.sync and ldmatrix instead of WMMA: the code says which lane holds what",
        tile=(128, 128, 16),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=8192,
        parent="hgemm_07_wmma_async",
        seed=("001/13",),
        departs=(
            "only sketched in the article; B loaded once for 16 k, where the article's "
            "registers suggest a load for every product (experiment: hgemm 10, B loaded again)"
        ),
        multiple_of=(128, 128, 16),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_11_mma_swizzled",
        idea="both tiles swizzled: no ldmatrix has a conflict, .x4 included",
        tile=(128, 128, 16),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=8192,
        parent="hgemm_10_mma",
        seed=("001/14",),
        departs=(
            "only sketched in the article; A is swizzled as well, and B with SHIFT 4, where the"
            " article swizzles only B, with SHIFT 3; B loaded once for 16 k (experiment: hgemm "
            "11, as published)"
        ),
        multiple_of=(128, 128, 16),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_12_mma_pipeline",
        idea="copies, fragments and products of different tiles at the same time",
        tile=(128, 128, 16),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=24576,
        stages=3,
        parent="hgemm_11_mma_swizzled",
        seed=("001/15",),
        departs=(
            "only sketched in the article; three buffers, where the article has two; one "
            "barrier per tile and the wait before the products, where the author's code has two"
            " barriers and waits after the products (experiment: hgemm 12, wait behind the "
            "products); swizzled as hgemm_11_mma_swizzled (experiment: hgemm 12, as published)"
        ),
        multiple_of=(128, 128, 16),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_13_large_tile",
        idea="eight warps of 64x32, 32 k at a time, blocks in strips; no swizzle yet",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=16384,
        parent="hgemm_10_mma",
        seed=("000/hgemm_naive",),
        departs=(
            "cp.async without L2::128B (experiment: hgemm 13, L2::128B); strips of 8 rows of "
            "tiles, where the article's have 8 columns (experiment: hgemm 13, strips of "
            "columns); wait_all instead of a committed group"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_14_conflict_free",
        idea="both tiles swizzled, for rows of 64 and of 256 bytes",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=16384,
        parent="hgemm_13_large_tile",
        seed=("000/hgemm_bcf",),
        departs=(
            "cp.async without L2::128B (experiment: hgemm 14, L2::128B); strips of 8 rows of "
            "tiles, where the article's have 8 columns; wait_all instead of a committed group"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_15_double_buffer",
        idea="the next tiles arrive while these are multiplied; one barrier a tile",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=32768,
        stages=2,
        parent="hgemm_14_conflict_free",
        seed=("000/hgemm_bcf_dbf",),
        departs=(
            "cp.async without L2::128B (experiment: hgemm 15, L2::128B); strips of 8 rows of "
            "tiles, where the article's have 8 columns; wait_all instead of a committed group; "
            "loop rotated, its last iteration not peeled"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_16_write_back",
        idea="C goes through swizzled shared memory and leaves in whole lines",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=32768,
        stages=2,
        parent="hgemm_15_double_buffer",
        seed=(
            "000/hgemm_bcf_dbf_rw",
            "002/hgemm_bcf_dbf_rw",
        ),
        departs=(
            "cp.async without L2::128B (experiment: hgemm 16, L2::128B); strips of 8 rows of "
            "tiles, where the article's have 8 columns (experiment: hgemm 16, strips of "
            "columns); wait_all instead of a committed group; loop rotated, its last iteration not "
            "peeled"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_17_stages",
        idea="a ring of buffers in dynamic shared memory: two tiles on their way",
        tile=(128, 128, 32),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=49152,
        stages=3,
        parent="hgemm_16_write_back",
        seed=("002/hgemm_k_stages",),
        departs=(
            "copies after the first fragments of a tile, where the article's come before all of"
            " them (experiment: hgemm 17, copies in front); cp.async without L2::128B "
            "(experiment: hgemm 17, L2::128B); strips of 8 rows of tiles, where the article's "
            "have 8 columns; loop rotated, its last iteration not peeled"
        ),
        multiple_of=(128, 128, 32),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_18_wide_tile",
        idea="128x256 a block, 64x64 a warp, fragments one step ahead, 192 KB of tiles",
        tile=(128, 256, 64),
        thread_tile=(16, 8),
        threads=256,
        shared_bytes=196608,
        stages=4,
        parent="hgemm_17_stages",
        multiple_of=(128, 256, 64),
        min_arch=80,
        **_ALIGNED,
    ),
    step(
        "hgemm_19_stream_k",
        idea="one block an SM; tiles that would not fill a wave are cut along k, if it pays",
        tile=(128, 256, 64),
        thread_tile=(16, 8),
        threads=256,
        shared_bytes=196608,
        stages=4,
        persistent=True,
        cuts=((3, 65, 2), (2, 64, 5), (2, 65, 5)),
        parent="hgemm_18_wide_tile",
        multiple_of=(128, 256, 64),
        min_arch=80,
        workspace=True,
        **_ALIGNED,
    ),
    step(
        "hgemm_20_any_shape",
        idea="any M, N, K and alignment: seven tiles, guarded at edges, few of them cut along k",
        tile=(128, 128, 64),
        thread_tile=(16, 8),
        threads=128,
        shared_bytes=98304,
        stages=6,
        cuts=((1, 17, 2), (2, 17, 5)),
        parent="hgemm_18_wide_tile",
        precisions=HALF,
        layouts=("nn", "nt"),
        alignment=2,
        multiple_of=(1, 1, 1),
        min_arch=80,
        workspace=True,
        configs=(
            "128x256",
            "256x128",
            "128x128",
            "64x128",
            "128x64",
            "64x64",
            "16x128",
            "128x128 split",
            "64x128 split",
            "128x64 split",
            "64x64 split",
            "16x128 split",
        ),
    ),
)
