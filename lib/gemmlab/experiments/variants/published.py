"""Steps as the articles have them, where the course's own form of a system departs from it.

Where an article shows no code, its author's public repository decides.
"""

from __future__ import annotations

# ---- WMMA: article 001, kernels 09 to 12 ----
# Rows without padding, warps of 32x128, and C read and written as fragments where it is fp32.
_WMMA = {
    "PAD = 8;": "PAD = 0;",
    "(BK + PAD) % 16 == 8 && (BN + PAD) % 16 == 8": "PAD == 0",
    "WM = 64, WN = 64;": "WM = 32, WN = 128;",
    "  // [store]\n": """  // [store]
  if constexpr (sizeof(TC) == 4) {
    wmma::fragment<wmma::accumulator, MMA_M, MMA_N, MMA_K, float> rC;
#pragma unroll
    for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn) {
        float* to = reinterpret_cast<float*>(gC) + (size_t)(wm * MMA_M) * N + wn * MMA_N;
        wmma::fill_fragment(rC, 0.0f);
        if (beta != 0.0f) wmma::load_matrix_sync(rC, to, N, wmma::mem_row_major);
#pragma unroll
        for (int i = 0; i < rC.num_elements; ++i)
          rC.x[i] = alpha * acc[wm][wn].x[i] + beta * rC.x[i];
        wmma::store_matrix_sync(to, rC, N, wmma::mem_row_major);
      }
    return;
  }
""",
}


def _b_again(stage: str) -> dict[str, str]:
    """One fragment of B at a time, loaded again for each fragment of A. stage: where it stands."""
    load = f"wmma::load_matrix_sync(rB{{}}, &sB{stage}[k_mma][n + wn * MMA_N], BN + PAD);"
    return {
        "T, wmma::row_major> rB[WNITER];": "T, wmma::row_major> rB;",
        "#pragma unroll\n      for (int wn = 0; wn < WNITER; ++wn)\n        "
        + load.format("[wn]"): "",
        "          wmma::mma_sync(acc[wm][wn], rA[wm], rB[wn], acc[wm][wn]);": f"""        {{
          {load.format("")}
          wmma::mma_sync(acc[wm][wn], rA[wm], rB, acc[wm][wn]);
        }}""",
    }


_PAST_L1 = {"cp_async_ca<16>(": "cp_async_cg("}
# The copy of the next tile starts before this one is waited for; everyone is done with a tile at a
# second barrier.
_TWO_BARRIERS = {
    "  copy_tile(0);\n": "  copy_tile(0);\n  cp_async_commit();\n",
    """    cp_async_wait_all();  // this thread's part of the tile has arrived
    __syncthreads();      // everyone's has, and everyone is done with the tile before
    copy_tile(tile + 1);  // into that one's buffer, on its way during the products
""": """    copy_tile(tile + 1);  // into the buffer that everyone is done with
    cp_async_commit();
    cp_async_wait<1>();  // this thread's part of this tile has arrived,
    __syncthreads();     // everyone's has
""",
    "      // [/mma]\n    }\n  }\n": """      // [/mma]
    }
    __syncthreads();  // everyone is done with this tile
  }
""",
}
# Whole tiles: the copy of t + 2, the products of t, then the fragments of t + 1.
_WHOLE_TILES = {
    """  cp_async_wait_all();
  __syncthreads();  // tile 0 is in place
  copy_tile(1);
""": """  cp_async_commit();
  copy_tile(1);
  cp_async_commit();
  cp_async_wait<1>();
  __syncthreads();  // tile 0 is in place
""",
    "  // behind the last tile: itself, not used\n": """  // behind the last tile: itself
    __syncthreads();  // everyone has this tile in registers
    copy_tile(tile + 2);
    cp_async_commit();
""",
    """      // Without a condition the compiler would wait before it has issued the products.
      if (k_mma == 0 && tile + 1 < tiles) {
        cp_async_wait_all();  // this thread's part of the next tile has arrived
        __syncthreads();      // everyone's has, and everyone has this tile in registers
        copy_tile(tile + 2);  // into this tile's buffer
      }
      load_fragments(next, k_mma);  // in place of those that have been multiplied
""": """    }
    cp_async_wait<1>();  // this thread's part of the next tile has arrived
    __syncthreads();     // everyone's has
#pragma unroll
    for (int k_mma = 0; k_mma < BK / MMA_K; ++k_mma) {
      load_fragments(next, k_mma);  // in place of those that have been multiplied
""",
}


# ---- mma.sync: article 001, kernels 13 to 15; article 000 ----
def _b_again_mma(load: str) -> dict[str, str]:
    """One fragment of B at a time, loaded again for each fragment of A. load: its address."""
    return {
        "rB[WNITER][2];": "rB[2];",
        "#pragma unroll\n      for (int wn = 0; wn < WNITER; ++wn)\n        "
        f"ldmatrix_x2_trans(rB[wn], {load});\n": "",
        "for (int wn = 0; wn < WNITER; ++wn) mma_m16n8k16<T>(acc[wm][wn], rA[wm], rB[wn]);": (
            """for (int wn = 0; wn < WNITER; ++wn) {
          ldmatrix_x2_trans(rB, LOAD);
          mma_m16n8k16<T>(acc[wm][wn], rA[wm], rB);
        }""".replace("LOAD", load)
        ),
    }


_PLAIN_B = "sB_addr + (k_mma * BN + wn * MMA_N) * sizeof(T)"
_SWIZZLED_B = "(sB_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BN * sizeof(T)"
_B_ALONE = {"BITS_A = 1": "BITS_A = 0", "SHIFT_B = 4": "SHIFT_B = 3"}
# Tile t + 1 is waited for behind the products of t, so with two buffers the copy of t + 2 has the
# time of both.
_WAIT_BEHIND = {
    "STAGES = 3": "STAGES = 2",
    """    cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
    __syncthreads();              // everyone's is; and everyone has the fragments of these
""": "    __syncthreads();  // everyone has the fragments of these tiles\n",
    "    mma_tiles<T>(acc, rA, rB);\n    load_fragments(stage);": """    mma_tiles<T>(acc, rA, rB);
    cp_async_wait<STAGES - 1>();  // this thread's part of the next tiles is in place
    __syncthreads();              // everyone's is
    load_fragments(stage);""",
}
_STRIPS_OF_COLUMNS = {
    """tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile.x * BM, block_n = tile.y * BN;""": (
        """tile_at(blockIdx.x, N / BN, M / BM);
  const int block_m = tile.y * BM, block_n = tile.x * BN;"""
    )
}
_WHOLE_LINES = {"cp_async_cg(": "cp_async_cg_l2_128b("}

# ---- TMA: article 002 ----
# The fragments of the next 16 k are loaded into a second set before these are multiplied.
_TWO_SETS = {
    "#pragma unroll\n    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {": (
        "    uint32_t rA[2][WMITER][4], rB[2][WNITER][2];\n"
        "    auto load_fragments = [&](int set, int k_mma) {"
    ),
    "      uint32_t rA[WMITER][4], rB[WNITER][2];\n": "",
    "ldmatrix_x4(rA[wm],": "ldmatrix_x4(rA[set][wm],",
    "ldmatrix_x2_trans(rB[wn],": "ldmatrix_x2_trans(rB[set][wn],",
    "      mma_tiles<T>(acc, rA, rB);\n": """    };
    load_fragments(0, 0);
#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      const int set = k_mma / MMA_K % 2;
      if (k_mma + MMA_K < BK) load_fragments(set ^ 1, k_mma + MMA_K);
      mma_tiles<T>(acc, rA[set], rB[set]);
""",
}

# Name -> the step, and what is changed in its text.
EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "hgemm 03, 16x8 a thread": (
        "hgemm_03_vectorized",
        {
            "TM = 8, TN = 8": "TM = 16, TN = 8",
            "BK = 16": "BK = 32",
            "THREADS = 256": "THREADS = 128",
        },
    ),
    "hgemm 06, as published": ("hgemm_06_wmma", {**_WMMA, **_b_again("")}),
    "hgemm 07, as published": ("hgemm_07_wmma_async", {**_WMMA, **_PAST_L1, **_b_again("")}),
    "hgemm 08, as published": (
        "hgemm_08_wmma_double_buffer",
        {**_WMMA, **_PAST_L1, **_b_again("[stage]"), **_TWO_BARRIERS},
    ),
    "hgemm 09, as published": (
        "hgemm_09_wmma_pipeline",
        {**_WMMA, **_PAST_L1, **_WHOLE_TILES},
    ),
    "hgemm 09, whole tiles": ("hgemm_09_wmma_pipeline", _WHOLE_TILES),
    "hgemm 10, B loaded again": ("hgemm_10_mma", _b_again_mma(_PLAIN_B)),
    "hgemm 11, as published": (
        "hgemm_11_mma_swizzled",
        {**_B_ALONE, **_b_again_mma(_SWIZZLED_B)},
    ),
    "hgemm 12, wait behind the products": ("hgemm_12_mma_pipeline", _WAIT_BEHIND),
    "hgemm 12, as published": ("hgemm_12_mma_pipeline", {**_WAIT_BEHIND, **_B_ALONE}),
    "hgemm 13, L2::128B": ("hgemm_13_large_tile", _WHOLE_LINES),
    "hgemm 14, L2::128B": ("hgemm_14_conflict_free", _WHOLE_LINES),
    "hgemm 15, L2::128B": ("hgemm_15_double_buffer", _WHOLE_LINES),
    "hgemm 16, L2::128B": ("hgemm_16_write_back", _WHOLE_LINES),
    "hgemm 17, L2::128B": ("hgemm_17_stages", _WHOLE_LINES),
    "hgemm 13, strips of columns": ("hgemm_13_large_tile", _STRIPS_OF_COLUMNS),
    "hgemm 16, strips of columns": ("hgemm_16_write_back", _STRIPS_OF_COLUMNS),
    "tma 01, two sets of fragments": ("tma_01_load", _TWO_SETS),
    "tma 02, two sets of fragments": ("tma_02_two_blocks", _TWO_SETS),
    "tma 03, BK = 32": (
        "tma_03_store",
        {
            "BK = 64": "BK = 32",
            "STAGES = 3": "STAGES = 4",  # in which C has room in fp32, too
            "BITS_A = 3": "BITS_A = 2",
            "swizzle<BITS_A, SHIFT_A>(to / 2)": "swizzle<3, 3>(to / 2)",
            "g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B": (
                "g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_64B"
            ),
            "BK * 2 == 128 && BOX * 2 == 128": "BK * 2 == 64 && BOX * 2 == 128",
        },
    ),
}
