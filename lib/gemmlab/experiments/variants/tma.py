"""Variants of the steps of Part III."""

from __future__ import annotations

_C_PLACE = "const int at = swizzle<BITS_A, SHIFT_A>(to / 2) * 2;"

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "tma 01, not swizzled": (
        "tma_01_load",
        {"BITS_A = 3": "BITS_A = 0", "BITS_B = 3": "BITS_B = 0", "SWIZZLE_128B": "SWIZZLE_NONE"},
    ),
    "tma 01, two stages": ("tma_01_load", {"STAGES = 3": "STAGES = 2"}),
    "tma 01, four stages": ("tma_01_load", {"STAGES = 3": "STAGES = 4"}),
    "tma 01, seven stages": ("tma_01_load", {"STAGES = 3": "STAGES = 7"}),
    "tma 02, two stages": ("tma_02_two_blocks", {"STAGES = 3": "STAGES = 2"}),
    "tma 02, four stages": ("tma_02_two_blocks", {"STAGES = 3": "STAGES = 4"}),
    "tma 02, six stages": ("tma_02_two_blocks", {"STAGES = 3": "STAGES = 6"}),
    "tma 02, A not swizzled": (
        "tma_02_two_blocks",
        {"BITS_A = 2": "BITS_A = 0", "SWIZZLE_64B": "SWIZZLE_NONE"},
    ),
    "tma 03, C not swizzled": (
        "tma_03_store",
        {
            _C_PLACE: "const int at = to;",
            "(TC), CU_TENSOR_MAP_SWIZZLE_128B": "(TC), CU_TENSOR_MAP_SWIZZLE_NONE",
        },
    ),
    "tma 04, five stages": ("tma_04_producer_warp", {"STAGES = 3": "STAGES = 5"}),
    "tma 06, tiles in rows": (
        "tma_06_persistent",
        {
            "tile_at(t, rows, columns)": "make_int2(t / columns, t % columns)",
        },
    ),
    "tma 07, tiles whole": ("tma_07_stream_k", {"PRICE = 6; ": "PRICE = 1000000; "}),
    "tma 07, price 1": ("tma_07_stream_k", {"PRICE = 6; ": "PRICE = 1; "}),
}
