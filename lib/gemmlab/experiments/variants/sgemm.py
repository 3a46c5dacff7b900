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
}
