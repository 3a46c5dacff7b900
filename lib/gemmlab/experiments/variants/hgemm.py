"""Variants of the steps of Part II."""

from __future__ import annotations

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
_WRITE_BACK_HEADER = '#include "../common/store/write_back.cuh"'
_COPIES_BEHIND = "if (k_mma == 0) copy_tiles(k_tile + (STAGES - 1) * BK, fill);"
_FILL = "const int fill = free_stage;"
# Each step loads its own fragments, and the barrier stands at the end of a tile.
_NOT_AHEAD = {
    "  if (K > 0) load_fragments(0, 0);\n": "",
    """      if (step == STEPS - 1) {
        cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
        __syncthreads();              // everyone's is; and everyone has read the present ones
        stage = k_tile + BK == K ? 0 : after(stage);
      }
      load_fragments((step + 1) % STEPS, stage);  // behind the last tile: stage 0, and not used
""": "      load_fragments(step, stage);\n",
    """      multiply(step);
    }
""": """      multiply(step);
    }
    cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
    __syncthreads();              // everyone's is; and everyone has read these
    stage = after(stage);
""",
}

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
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
    "hgemm 18, fragments not ahead": ("hgemm_18_wide_tile", _NOT_AHEAD),
    "hgemm 18, three stages": ("hgemm_18_wide_tile", {"STAGES = 4": "STAGES = 3"}),
    "hgemm 18, C from registers": (
        "hgemm_18_wide_tile",
        {
            _WRITE_BACK: _WRITE_TILES,
            _WRITE_BACK_HEADER: f'#include "../common/tile/mma_tile.cuh"\n{_WRITE_BACK_HEADER}',
        },
    ),
    "hgemm 18, 256x128": (
        "hgemm_18_wide_tile",
        {"BM = 128, BN = 256": "BM = 256, BN = 128", "SHIFT_B = 5": "SHIFT_B = 4"},
    ),
}
