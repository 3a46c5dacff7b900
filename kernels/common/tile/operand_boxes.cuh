// The boxes in which the copy engine brings an operand's part of a k tile, and their loads.
#pragma once
#include <ptx/tma.cuh>

#include "../launch/host.cuh"
#include "../launch/tensor_map.cuh"

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
using BoxesB = OperandBoxes<S::LAYOUT & TURNED_B ? S::BN : S::B_COLUMNS,
                            (S::LAYOUT & TURNED_B) == 0, S::CLUSTER>;

// count: of all rows of A or columns of B. ld: elements from row to row in memory. rows: of a box,
// fewer where a tile has no more.
template <class Boxes, class T>
cudaError_t encode_operand(CUtensorMap* map, const T* operand, int count, int K, int ld,
                           int rows = Boxes::ROWS) {
  return encode_tensor_map(map, operand, Boxes::MN ? K : count, Boxes::MN ? count : K, ld, rows, 64,
                           CU_TENSOR_MAP_SWIZZLE_128B);
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
