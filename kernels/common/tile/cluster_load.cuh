// What a block of a cluster asks the copy engine for.
#pragma once
#include <ptx/tma.cuh>

#include "../launch/tensor_map.cuh"
#include "../store/warp_store.cuh"

struct GemmMaps {
  CUtensorMap a, b, c;
};

// A and B in rows of lda and ldb elements, C in pieces of 16x64 (warpgroup_store.cuh).
template <class S, class T, class TC>
cudaError_t encode_maps(GemmMaps* maps, const T* A, const T* B, const Output<TC>& out, int K,
                        int lda, int ldb) {
  constexpr auto SWIZZLE = CU_TENSOR_MAP_SWIZZLE_128B;
  cudaError_t error = encode_tensor_map(&maps->a, A, out.M, K, lda, S::BM, S::BK, SWIZZLE);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&maps->b, B, K, out.N, ldb, S::BOX_ROWS, 64, SWIZZLE);
  if (error != cudaSuccess) return error;
  return encode_output(&maps->c, out, 16, 64);
}

// Brings the maps into the copy engine's cache. Of an empty matrix there is none.
__device__ __forceinline__ void prefetch_maps(const GemmMaps& maps, bool inputs, bool output) {
  if (inputs) tma_prefetch(&maps.a), tma_prefetch(&maps.b);
  if (output) tma_prefetch(&maps.c);
}

// The block's rows of A, from `row` on, and its share of the boxes of B, from column `col` on,
// which go into all blocks of the cluster. Both from k on, into the stage at to_addr; full_addr: of
// its mbarrier, which has been told STAGE_BYTES.
template <class S>
__device__ __forceinline__ void load_tiles(const GemmMaps& maps, uint32_t to_addr,
                                           uint32_t full_addr, int row, int col, int k, int rank) {
  tma_load_2d(to_addr, &maps.a, full_addr, k, row);
#pragma unroll
  for (int i = 0; i < S::BOXES; ++i) {
    const int box = rank * S::BOXES + i, first = box * S::BOX_ROWS;  // rows of 64 columns
    const uint32_t box_addr = to_addr + S::A_BYTES + box * S::BOX_BYTES;
    const int x = col + first / S::BK * 64, y = k + first % S::BK;
    if constexpr (S::CLUSTER == 1)
      tma_load_2d(box_addr, &maps.b, full_addr, x, y);
    else
      tma_load_2d_multicast(box_addr, &maps.b, full_addr, x, y, (1 << S::CLUSTER) - 1);
  }
}
