"""Variants of steps that chapters measure: named here, so that `record` measures them too."""

from __future__ import annotations

from .errors import ArgumentError
from .run import Kernel, variant

SIZE = 4096  # M = N = K at which experiments are recorded

_UNROLL_2 = "#pragma unroll 2  // all four at once would keep more of A than 128 registers hold"

# sgemm_17's outer product goes along columns of the thread's tile. Here along rows.
_COLUMNS = "for (int j = 0; j < TN; ++j)\n#pragma unroll\n    for (int step"
_ROWS = {
    _COLUMNS: "for (int i = 0; i < TM; ++i)\n#pragma unroll\n    for (int step",
    "step < TM;": "step < TN;",
}
_DOWN_AND_UP = "const int i = j % 2 ? TM - 1 - step : step;"

# hgemm_18's products go along columns of the warp's tile. Here along rows.
_PRODUCTS = """for (int j = 0; j < WNITER; ++j)
#pragma unroll
      for (int turn = 0; turn < WMITER; ++turn) {
        const int i = j % 2 ? WMITER - 1 - turn : turn;"""
_PRODUCTS_BY_ROWS = """for (int i = 0; i < WMITER; ++i)
#pragma unroll
      for (int turn = 0; turn < WNITER; ++turn) {
        const int j = i % 2 ? WNITER - 1 - turn : turn;"""
_WRITE_BACK = (
    "write_back<BM, BN, WM, WN, THREADS, SMEM_BYTES>(sC, C + (size_t)block_m * N + block_n, N, "
    f"acc,\n{50 * ' '}alpha, beta);"
)
_WRITE_TILES = """TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  write_tiles(gC, N, acc, lane_id, alpha, beta);"""
_WRITE_BACK_HEADER = '#include "../common/write_back.cuh"'
_COPIES_BEHIND = "if (k_mma == 0) copy_tiles(k_tile + (STAGES - 1) * BK, fill);"
_FILL = "const int fill = free_stage;"

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "04, one block an SM": (
        "sgemm_04_register_tiling",
        {
            "__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS)",
            _UNROLL_2: "#pragma unroll",
        },
    ),
    "04, unrolled in 128 registers": (
        "sgemm_04_register_tiling",
        {
            _UNROLL_2: "#pragma unroll",
        },
    ),
    "08, one block an SM": (
        "sgemm_08_double_buffer",
        {
            "__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS, 1)",
        },
    ),
    "17, columns all down": (
        "sgemm_17_pipeline",
        {
            _DOWN_AND_UP: "const int i = step;",
        },
    ),
    "17, rows forth and back": (
        "sgemm_17_pipeline",
        {
            **_ROWS,
            _DOWN_AND_UP: "const int j = i % 2 ? TN - 1 - step : step;",
        },
    ),
    "17, rows all forward": (
        "sgemm_17_pipeline",
        {
            **_ROWS,
            _DOWN_AND_UP: "const int j = step;",
        },
    ),
    "17, lanes in Z order": (
        "sgemm_17_pipeline",
        {
            "lane_m = lane_id / LN, lane_n = lane_id % LN;": (
                "lane_m = lane_id / 16 * 4 + lane_id / 2 % 4, "
                "lane_n = lane_id / 8 % 2 * 2 + lane_id % 2;"
            ),
        },
    ),
    "19, whole tiles": (
        "sgemm_19_stream_k",
        {
            "split = full || k_tiles == 0 ? 0 : min(tiles, rest + blocks);": "split = 0;",
        },
    ),
    "19, not reversed": (
        "sgemm_19_stream_k",
        {
            "make_float4(r[3], r[2], r[1], r[0])": "make_float4(r[0], r[1], r[2], r[3])",
            "r[3] += v.x": "r[0] += v.x",
            "r[2] += v.y": "r[1] += v.y",
            "r[1] += v.z": "r[2] += v.z",
            "r[0] += v.w": "r[3] += v.w",
        },
    ),
    "hgemm 06, no padding": (
        "hgemm_06_wmma",
        {"PAD = 8;": "PAD = 0;", "(BK + PAD) % 16 == 8 && (BN + PAD) % 16 == 8": "PAD == 0"},
    ),
    "hgemm 11, shift 3 for B": ("hgemm_11_mma_swizzled", {"SHIFT_B = 4": "SHIFT_B = 3"}),
    "hgemm 11, A not swizzled": ("hgemm_11_mma_swizzled", {"BITS_A = 1": "BITS_A = 0"}),
    "hgemm 12, two buffers": ("hgemm_12_mma_pipeline", {"STAGES = 3": "STAGES = 2"}),
    "hgemm 14, A not swizzled": ("hgemm_14_conflict_free", {"BITS_A = 2": "BITS_A = 0"}),
    "hgemm 14, B not swizzled": ("hgemm_14_conflict_free", {"BITS_B = 3": "BITS_B = 0"}),
    "hgemm 14, BK = 64": (
        "hgemm_14_conflict_free",
        {"BK = 32": "BK = 64", "BITS_A = 2": "BITS_A = 3"},
    ),
    "hgemm 15, one block an SM": (
        "hgemm_15_double_buffer",
        {"__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS, 1)"},
    ),
    "hgemm 16, one block an SM": (
        "hgemm_16_write_back",
        {"__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS, 1)"},
    ),
    "hgemm 16, C not swizzled": ("hgemm_16_write_back", {"BITS_C = 3": "BITS_C = 0"}),
    "hgemm 17, two stages": ("hgemm_17_stages", {"STAGES = 3": "STAGES = 2"}),
    "hgemm 17, four stages": ("hgemm_17_stages", {"STAGES = 3": "STAGES = 4"}),
    "hgemm 17, six stages": ("hgemm_17_stages", {"STAGES = 3": "STAGES = 6"}),
    "hgemm 17, copies in front": (
        "hgemm_17_stages",
        {
            _COPIES_BEHIND: "",
            _FILL: f"{_FILL}\n    copy_tiles(k_tile + (STAGES - 1) * BK, fill);",
        },
    ),
    "hgemm 18, products by rows": ("hgemm_18_wide_tile", {_PRODUCTS: _PRODUCTS_BY_ROWS}),
    "hgemm 18, three stages": ("hgemm_18_wide_tile", {"STAGES = 4": "STAGES = 3"}),
    "hgemm 18, C from registers": (
        "hgemm_18_wide_tile",
        {
            _WRITE_BACK: _WRITE_TILES,
            _WRITE_BACK_HEADER: f'#include "../common/mma_tile.cuh"\n{_WRITE_BACK_HEADER}',
        },
    ),
    "hgemm 18, 256x128": (
        "hgemm_18_wide_tile",
        {"BM = 128, BN = 256": "BM = 256, BN = 128", "SHIFT_B = 5": "SHIFT_B = 4"},
    ),
}


def experiment(name: str) -> Kernel:
    """The variant called `name`. Raises ArgumentError, naming those there are."""
    if name not in EXPERIMENTS:
        known = ", ".join(map(repr, EXPERIMENTS))
        raise ArgumentError(f"name: got {name!r}, the experiments are {known}")
    step, changes = EXPERIMENTS[name]
    return variant(step, changes, label=name)
