"""Variants of the steps of Part III."""

from __future__ import annotations

# The tiles of C in strips of another height.
_STRIP_AT = """namespace tma_06_persistent {

__device__ __forceinline__ int2 strip_at(int t, int rows, int columns) {
  constexpr int HEIGHT_OF_STRIP = HEIGHT;
  const int strip = t / (HEIGHT_OF_STRIP * columns) * HEIGHT_OF_STRIP;
  const int height = min(HEIGHT_OF_STRIP, rows - strip), within = t - strip * columns;
  return make_int2(strip + within % height, within / height);
}
"""
_WARP_TILE = '#include "../common/tile/warp_tile.cuh"'


def _strips(height: int) -> dict[str, str]:
    return {
        "namespace tma_06_persistent {\n": _STRIP_AT.replace("HEIGHT;", f"{height};"),
        "tile_at(t, rows, columns)": "strip_at(t, rows, columns)",
    }


_C_PLACE = "const int at = swizzle<BITS_A, SHIFT_A>(to / 2) * 2;"


def _multicast(arrive: str) -> dict[str, str]:
    """tma_06 in clusters of two that share B, whose consumers tell both blocks by `arrive`."""
    return {
        "#include <ptx/smem.cuh>": "#include <ptx/cluster.cuh>\n#include <ptx/smem.cuh>",
        '#include "../common/launch/host.cuh"': '#include "../common/launch/cluster_launch.cuh"',
        "using Ring = StageRing<STAGES, STAGE_BYTES>;": (
            "struct Ring : StageRing<STAGES, STAGE_BYTES> {\n"
            "  using StageRing::StageRing;\n"
            "  __device__ static void arrive_empty(uint32_t empty_addr) {\n"
            f"    for (int rank = 0; rank < 2; ++rank) {arrive}(empty_addr, rank);\n"
            "  }\n"
            "};"
        ),
        "ring.init(WARPS);\n  }\n  __syncthreads();": (
            "ring.init(2 * WARPS);\n  }\n  cluster_sync();\n  const int rank = cluster_rank();"
        ),
        "ceil_div(out.M, BM)": "ceil_div(out.M, 2 * BM)",
        "int t = blockIdx.x; t < rows * columns; t += gridDim.x": (
            "int t = blockIdx.x / 2; t < rows * columns; t += gridDim.x / 2"
        ),
        "tile.x * BM": "(tile.x * 2 + rank) * BM",
        "#pragma unroll\n        for (int j = 0; j < BN; j += LINE)\n          tma_load_2d(": (
            "        const int j = rank * LINE;  // this block's half of B, into both\n"
            "        tma_load_2d_multicast("
        ),
        "tile.y * BN + j, k_tile);": "tile.y * BN + j, k_tile, 3);",
        "      }\n    }\n    return;": "      }\n    }\n    cluster_sync();\n    return;",
        "<0>();  // shared memory lasts until the engine has read it": (
            "<0>();\n  cluster_sync();  // neither block ends while the other arrives here"
        ),
        "const int blocks = min(most, ceil_div(g.M, BM) * ceil_div(g.N, BN));": (
            "const int blocks = 2 * min(most / 2, ceil_div(g.M, 2 * BM) * ceil_div(g.N, BN));"
        ),
        "return launch(kernel<T, TC>, dim3(blocks), dim3(THREADS),": (
            "return launch_clusters(kernel<T, TC>, dim3(blocks), dim3(2), dim3(THREADS),"
        ),
    }


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
    "tma 06, strips of 4 rows": ("tma_06_persistent", _strips(4)),
    "tma 06, strips of 16 rows": ("tma_06_persistent", _strips(16)),
    "tma 06, addresses computed again": (
        "tma_06_persistent",
        {
            _WARP_TILE: "#include <ptx/register.cuh>\n#define in_register(...) (__VA_ARGS__)\n"
            f"{_WARP_TILE}\n#undef in_register"
        },
    ),
    "tma 06, multicast": ("tma_06_persistent", _multicast("mbarrier_arrive_remote")),
    "tma 06, multicast with a fence": (
        "tma_06_persistent",
        _multicast("mbarrier_arrive_cluster"),
    ),
    "tma 07, tiles whole": ("tma_07_stream_k", {"PRICE = 6; ": "PRICE = 1000000; "}),
    "tma 07, price 1": ("tma_07_stream_k", {"PRICE = 6; ": "PRICE = 1; "}),
}
