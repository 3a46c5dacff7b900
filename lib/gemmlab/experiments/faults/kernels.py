"""Mistakes with the copy engine: variants of steps with TMA, each with one thing wrong.

The simulator says of most of them what is wrong (tests/sim/test_kernels_tma.py); what a GPU does is
measured by `runs.py`.
"""

from __future__ import annotations

from ...core.arguments import one_of_many
from ...run.kernel import Kernel, variant

LOAD, STORE = "tma_01_load", "tma_03_store"
PRODUCER, WIDE, ANY = "tma_04_producer_warp", "tma_05_wide_tile", "tma_08_any_shape"

_ALIGN = "extern __shared__ __align__(1024) unsigned char smem[];"
_IN_FRONT = """
  __shared__ volatile int front[32];  // 128 bytes: static shared memory comes first
  if (threadIdx.x < 32) front[threadIdx.x] = 0;"""
_EXPECT = "expect_tx(bar_addr, STAGE_BYTES)"
_COLUMN = "bar_addr, k_tile, block_m);"  # of a box of A
_PROXY_FENCE = "fence_proxy_async();  // what"

# 32 k in a tile: a row of A's box has 64 bytes. The engine still starts rows 128 bytes apart.
_ROWS_OF_64 = {
    "BK = 64;": "BK = 32, PITCH = 64;",
    "STAGE_BYTES = BK * (BM + BN) * 2": "STAGE_BYTES = (BM * PITCH + BN * BK) * 2",
    "sB = sA + BM * BK;": "sB = sA + BM * PITCH;",
    "% 16) * BK + lane_id": "% 16) * PITCH + lane_id",
    "to_a_addr + BM * BK": "to_a_addr + BM * PITCH",
    _EXPECT: "expect_tx(bar_addr, BK * (BM + BN) * 2)",
    "wm * MMA_M * BK": "wm * MMA_M * PITCH",
    "BK * 2 == 128": "PITCH * 2 == 128",
}
# All of B's tile in one box. The driver is to say what it thinks of it, not check_tensor_map.
_ROWS_OF_256 = {
    "BOX = 64;": "BOX = 128;",
    "BOX * 2 == 128": "BOX * 2 == 256",
    "namespace tma_01_load {": """template <>
inline cudaError_t check_tensor_map(const __nv_bfloat16*, int, int, int, int, int,
                                    CUtensorMapSwizzle) {
  return cudaSuccess;
}

namespace tma_01_load {""",
}

# A stage is given back right behind its last ldmatrix, in front of the products that use it.
_RELEASED_04 = {
    "    if (k_tile > 0 && lane_id == 0) mbarrier_arrive(empty_addr + used * 8);": "",
    "      // [/fragments]": """      // [/fragments]
      if (k_mma == BK - MMA_K) {
        __syncwarp();
        if (lane_id == 0) mbarrier_arrive(empty_addr + used * 8);
      }""",
}
_FENCED_04 = {
    old: new.replace("        __syncwarp();", "        fence_proxy_async();\n        __syncwarp();")
    for old, new in _RELEASED_04.items()
}
# As CUTLASS does on sm_120: all warps that multiply meet at a named barrier, then they arrive.
_MET_04 = {
    old: new.replace("        __syncwarp();", "        bar_sync(1, CONSUMERS);")
    for old, new in _RELEASED_04.items()
}
_RELEASED_08 = {
    "with_tile(choose(g), ": "with_tile(4, ",  # 64x64
    "    else\n      sums.multiply_tiles(ring, depth, lane_id);": """    else if (depth > 0) {
      ring.wait_full();
      sums.template load<WM / 16>(0, ring.offset);
#pragma unroll 1
    for (int k_tile = 0; k_tile < depth; ++k_tile) {
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        if (step < 3) sums.template load<WM / 16>(step + 1, ring.offset);
        if (step == 2) sums.template release<decltype(ring)>(ring.empty_addr(), lane_id);
        if (step == 3) ring.next();
        if (step == 3 && k_tile + 1 < depth) {
          ring.wait_full();
          sums.template load<WM / 16>(0, ring.offset);
        }
        sums.template multiply<WM / 16>(step);
      }
    }
    }""",
}
_FENCED_08 = {
    old: new.replace("if (step == 2) sums", "if (step == 2) fence_proxy_async(), sums")
    for old, new in _RELEASED_08.items()
}
_MET_08 = {
    "#include <ptx/grid.cuh>": "#include <ptx/barrier.cuh>\n#include <ptx/grid.cuh>",
    **{
        old: new.replace("if (step == 2) sums", "if (step == 2) bar_sync(1, 32 * WARPS), sums")
        for old, new in _RELEASED_08.items()
    },
}

# Name -> the step, and what is changed in its text.
FAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "01, unchanged": (LOAD, {}),
    "01, array aligned to 128": (LOAD, {_ALIGN: _ALIGN.replace("1024", "128")}),
    "01, array aligned to 128, 128 bytes in front": (
        LOAD,
        {_ALIGN: _ALIGN.replace("1024", "128") + _IN_FRONT},
    ),
    "01, array aligned to 1024, 128 bytes in front": (LOAD, {_ALIGN: _ALIGN + _IN_FRONT}),
    "01, tiles 128 bytes further": (
        LOAD,
        {
            "T *sA = reinterpret_cast<T*>(smem)": "T *sA = reinterpret_cast<T*>(smem + 128)",
            "smem_addr(smem + stage": "smem_addr(smem + 128 + stage",
            "smem_addr(smem + STAGES": "smem_addr(smem + 128 + STAGES",
            "STAGES * (STAGE_BYTES + 8)": "STAGES * (STAGE_BYTES + 8) + 128",
        },
    ),
    "01, columns from an odd one on": (LOAD, {_COLUMN: _COLUMN.replace("k_tile", "k_tile + 1")}),
    "01, rows of a box 64 bytes": (LOAD, _ROWS_OF_64),
    "01, rows of a box 256 bytes": (LOAD, _ROWS_OF_256),
    "01, maps without __grid_constant__": (LOAD, {"const __grid_constant__ ": "const "}),
    "01, no fence after mbarrier_init": (LOAD, {"    fence_mbarrier_init();": "    "}),
    "01, a second arrival expected": (LOAD, {"i * 8, 1)": "i * 8, 2)"}),
    "01, half of the bytes expected": (LOAD, {_EXPECT: _EXPECT.replace("BYTES", "BYTES / 2")}),
    "01, 16 bytes fewer expected": (LOAD, {_EXPECT: _EXPECT.replace("BYTES", "BYTES - 16")}),
    "01, 16 bytes more expected": (LOAD, {_EXPECT: _EXPECT.replace("BYTES", "BYTES + 16")}),
    "01, parity 1 in the first round": (LOAD, {"parity = 0;  // parity": "parity = 1;  // parity"}),
    "01, parity never changes": (LOAD, {"    if (stage == 0) parity ^= 1;\n": ""}),
    "01, no barrier before a refill": (
        LOAD,
        {"    __syncthreads();  // everyone": "    // everyone"},
    ),
    "03, unchanged": (STORE, {}),
    "03, no proxy fence before the store": (STORE, {_PROXY_FENCE: "// what"}),
    "03, no barrier before the store": (STORE, {"  __syncthreads();      // and": "  // and"}),
    "03, no wait for the store": (STORE, {"    bulk_wait_read<0>();": "    "}),
    "04, released behind the last loads": (PRODUCER, _RELEASED_04),
    "04, released behind the last loads, with a proxy fence": (PRODUCER, _FENCED_04),
    "04, released behind the last loads, with a barrier": (PRODUCER, _MET_04),
    "05, registers: 32 and 240": (
        WIDE,
        {
            "PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232": (
                "PRODUCER_REGISTERS = 32, CONSUMER_REGISTERS = 240"
            ),
            "THREADS * LAUNCH_REGISTERS": "65536",
        },
    ),
    "08, released behind the last loads": (ANY, _RELEASED_08),
    "08, released behind the last loads, with a proxy fence": (ANY, _FENCED_08),
    "08, released behind the last loads, with a barrier": (ANY, _MET_08),
}


def fault(name: str) -> Kernel:
    """The step with the mistake called `name`, such as "01, no fence after mbarrier_init".

    Raises ArgumentError, naming those there are.
    """
    step, changes = FAULTS[known(name)]
    return variant(step, changes, label=name)


def known(name: str) -> str:
    """`name`, if there is such a mistake; else ArgumentError."""
    return one_of_many("name", name, FAULTS, "mistakes")
