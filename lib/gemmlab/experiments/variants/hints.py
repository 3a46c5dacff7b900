"""Hints to the L2: how much of a line it fetches, and which lines it gives up first."""

from __future__ import annotations

_MAPS = "CU_TENSOR_MAP_SWIZZLE_128B);"
_A_LOAD = "tma_load_2d(to_addr, &map_a, ring.full_addr(), k_tile, tile.x * BM);"
_B_LOAD = """tma_load_2d(to_addr + (BM + j) * LINE * sizeof(T), &map_b, ring.full_addr(),
                      tile.y * BN + j, k_tile);"""
_C_STORE = "tma_store_2d(&map_c, smem_addr(smem + j * BM * sizeof(TC)), block_n + j, block_m);"
_TMA = "#include <ptx/tma.cuh>"
_POLICIES = {_TMA: f"#include <ptx/cache_policy.cuh>\n{_TMA}"}


def _promoted(much: str) -> dict[str, str]:
    """The maps of A and B with another L2 promotion than 128 bytes."""
    return {_MAPS: f"CU_TENSOR_MAP_SWIZZLE_128B,\n            CU_TENSOR_MAP_L2_PROMOTION_{much});"}


def _hinted(call: str, policy: str) -> dict[str, str]:
    """A load or store of the copy engine with a cache policy."""
    name, rest = call.split("(", 1)
    return {call: f"{name}_hint({rest.removesuffix(');')}, {policy}());"}


# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "tma 02, L2 promotion none": (
        "tma_02_two_blocks",
        {
            **_promoted("NONE"),
            "BM, BK, CU_TENSOR_MAP_SWIZZLE_64B);": (
                "BM, BK, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE);"
            ),
        },
    ),
    "tma 06, L2 promotion none": ("tma_06_persistent", _promoted("NONE")),
    "tma 06, L2 promotion 256 bytes": ("tma_06_persistent", _promoted("L2_256B")),
    "tma 06, A and B evicted last": (
        "tma_06_persistent",
        {**_POLICIES, **_hinted(_A_LOAD, "l2_evict_last"), **_hinted(_B_LOAD, "l2_evict_last")},
    ),
    "tma 06, A and B evicted first": (
        "tma_06_persistent",
        {**_POLICIES, **_hinted(_A_LOAD, "l2_evict_first"), **_hinted(_B_LOAD, "l2_evict_first")},
    ),
    "tma 03, C evicted first": (
        "tma_03_store",
        {**_POLICIES, **_hinted(_C_STORE, "l2_evict_first")},
    ),
}
