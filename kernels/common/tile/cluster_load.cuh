// What a block of a cluster asks the copy engine for.
#pragma once
#include <ptx/tma.cuh>

#include "../launch/tensor_map.cuh"
#include "../store/warp_store.cuh"

struct GemmMaps {
  CUtensorMap a, b, c;
};

// The boxes that bring COUNT rows of A, or columns of B, 64 k deep: a row of a box is the 128 bytes
// that the swizzle spans. K-major, it is 64 k, and SHARES blocks bring a box each. MN: it is 64
// rows of A or columns of B; a box has 64 of k, or a part of them where there are too few boxes to
// share.
template <int COUNT, bool MN_, int SHARES_>
struct OperandBoxes {
  static constexpr bool MN = MN_;
  static constexpr int SHARES = SHARES_;
  static constexpr int ROWS = !MN ? COUNT / SHARES : COUNT / 64 % SHARES == 0 ? 64 : 64 / SHARES;
  static constexpr int BYTES = ROWS * 128, EACH = COUNT / ROWS / SHARES;  // of a block
  static_assert(ROWS % 8 == 0 && ROWS <= 256 && EACH * ROWS * SHARES == COUNT, "whole patterns");
};
template <class S>
using BoxesA = OperandBoxes<S::BM, (S::LAYOUT & TURNED_A) != 0, 1>;
template <class S>
using BoxesB = OperandBoxes<S::BN, (S::LAYOUT & TURNED_B) == 0, S::CLUSTER>;

// count: of all rows of A or columns of B. ld: elements from row to row in memory.
template <class Boxes, class T>
cudaError_t encode_operand(CUtensorMap* map, const T* operand, int count, int K, int ld) {
  return encode_tensor_map(map, operand, Boxes::MN ? K : count, Boxes::MN ? count : K, ld,
                           Boxes::ROWS, 64, CU_TENSOR_MAP_SWIZZLE_128B);
}

// A and B in rows of lda and ldb elements, C in pieces of 16x64 (warpgroup_store.cuh).
template <class S, class T, class TC>
cudaError_t encode_maps(GemmMaps* maps, const T* A, const T* B, const Output<TC>& out, int K,
                        int lda, int ldb) {
  cudaError_t error = encode_operand<BoxesA<S>>(&maps->a, A, out.M, K, lda);
  if (error != cudaSuccess) return error;
  error = encode_operand<BoxesB<S>>(&maps->b, B, out.N, K, ldb);
  if (error != cudaSuccess) return error;
  return encode_output(&maps->c, out, 16, 64);
}

// Brings the maps into the copy engine's cache. Of an empty matrix there is none.
__device__ __forceinline__ void prefetch_maps(const GemmMaps& maps, bool inputs, bool output) {
  if (inputs) tma_prefetch(&maps.a), tma_prefetch(&maps.b);
  if (output) tma_prefetch(&maps.c);
}

// A block's share of the boxes from `first`, a row of A or a column of B, and from k on. Boxes that
// are shared go into all blocks of the cluster.
template <class Boxes>
__device__ __forceinline__ void load_boxes(const CUtensorMap* map, uint32_t to_addr,
                                           uint32_t full_addr, int first, int k, int rank) {
#pragma unroll
  for (int i = 0; i < Boxes::EACH; ++i) {
    const int box = Boxes::SHARES == 1 ? i : rank * Boxes::EACH + i, line = box * Boxes::ROWS;
    const uint32_t box_addr = to_addr + box * Boxes::BYTES;
    const int x = Boxes::MN ? first + line / 64 * 64 : k;
    const int y = Boxes::MN ? k + line % 64 : first + line;
    if constexpr (Boxes::SHARES == 1)
      tma_load_2d(box_addr, map, full_addr, x, y);
    else
      tma_load_2d_multicast(box_addr, map, full_addr, x, y, (1 << Boxes::SHARES) - 1);
  }
}

// The block's rows of A, from `row` on, and its share of the boxes of B, from column `col` on,
// which go into all blocks of the cluster. Both from k on, into the stage at to_addr; full_addr: of
// its mbarrier, which has been told STAGE_BYTES.
template <class S>
__device__ __forceinline__ void load_tiles(const GemmMaps& maps, uint32_t to_addr,
                                           uint32_t full_addr, int row, int col, int k, int rank) {
  load_boxes<BoxesA<S>>(&maps.a, to_addr, full_addr, row, k, rank);
  load_boxes<BoxesB<S>>(&maps.b, to_addr + S::A_BYTES, full_addr, col, k, rank);
}
