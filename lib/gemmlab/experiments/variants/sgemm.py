"""Variants of the steps of Part I."""

from __future__ import annotations

_UNROLL_2 = "#pragma unroll 2  // all four at once would keep more of A than 128 registers hold"

# sgemm_17's outer product goes along columns of the thread's tile. Here along rows.
_COLUMNS = "for (int j = 0; j < TN; ++j)\n#pragma unroll\n    for (int step"
_ROWS = {
    _COLUMNS: "for (int i = 0; i < TM; ++i)\n#pragma unroll\n    for (int step",
    "step < TM;": "step < TN;",
}
_DOWN_AND_UP = "const int i = j % 2 ? TM - 1 - step : step;"

# sgemm_04's products as article 003 writes them: one k at a time, A a float at a time.
_FOUR_K = """    for (int k4 = 0; k4 < BK; k4 += 4) {
      float rA[TM][4];  // 8 rows, four k
#pragma unroll
      for (int i = 0; i < TM; ++i) unpack4(rA[i], load4(&sA[m + i][k4]));
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float rB[TN];
        unpack4(&rB[0], load4(&sB[k4 + k][n]));
        unpack4(&rB[4], load4(&sB[k4 + k][n + 4]));
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) acc[i][j] += rA[i][k] * rB[j];
      }
    }
"""
_ONE_K = """    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) rA[i] = sA[m + i][k];
      unpack4(&rB[0], load4(&sB[k][n]));
      unpack4(&rB[4], load4(&sB[k][n + 4]));
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rA[i] * rB[j];
    }
"""
_NO_LEAST_BLOCKS = {"__launch_bounds__(THREADS, 2)": "__launch_bounds__(THREADS)"}

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "02, blocks of 16x16": (  # as article 003 has it
        "sgemm_02_coalesced",
        {
            "BLOCK_ROWS = 8;": "BLOCK_ROWS = 16;",
            "BLOCK_COLS = 32;": "BLOCK_COLS = 16;",
            'static_assert(BLOCK_COLS == 32, "a warp must be one row of the block");\n': "",
        },
    ),
    "02, blocks of 32x32": (  # as article 001 has it
        "sgemm_02_coalesced",
        {
            "BLOCK_ROWS = 8;": "BLOCK_ROWS = 32;",
        },
    ),
    "04, as in the article": (
        "sgemm_04_register_tiling",
        {
            **_NO_LEAST_BLOCKS,
            _UNROLL_2: "#pragma unroll",
            _FOUR_K: _ONE_K,
        },
    ),
    "04, one block an SM": (
        "sgemm_04_register_tiling",
        {
            **_NO_LEAST_BLOCKS,
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
    # Kernel 04 of article 001: thread (tid / 16, tid % 16) of 16 x 16, without a word of warps.
    "11, indexed by thread": (
        "sgemm_11_warp_tiling",
        {
            "m = warp_id / (BN / WN) * WM + lane_id / (WN / TN) * TM;": (
                "m = tid / (BN / TN) * TM;"
            ),
            "n = warp_id % (BN / WN) * WN + lane_id % (WN / TN) * TN;": (
                "n = tid % (BN / TN) * TN;"
            ),
            "const int warp_id = tid / 32, lane_id = tid % 32;\n": "",
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
}
