// What a block of a cluster asks the copy engine for.
#pragma once
#include "gemm_maps.cuh"
#include "operand_boxes.cuh"

// The block's rows of A, from `row` on, and its share of the boxes of B, from column `col` on,
// multicast into all blocks of the cluster. Both from k on, into the stage at to_addr; full_addr:
// of its mbarrier, which already expects STAGE_BYTES.
template <class S>
__device__ __forceinline__ void load_tiles(const GemmMaps& maps, uint32_t to_addr,
                                           uint32_t full_addr, int row, int col, int k, int rank) {
  load_boxes<BoxesA<S>>(&maps.a, to_addr, full_addr, row, k, rank);
  load_boxes<BoxesB<S>>(&maps.b, to_addr + S::A_BYTES, full_addr, col, k, rank);
}
