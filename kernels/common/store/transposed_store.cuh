// A warpgroup's sums to C where the product is C's transpose: C^T = B^T A^T.
#pragma once
#include <ptx/barrier.cuh>
#include <ptx/smem.cuh>

#include "warpgroup_store.cuh"

// The map of C, in boxes of 64 of its columns, which a warpgroup has as rows, and of COLUMNS rows.
template <int COLUMNS, class TC>
cudaError_t encode_transposed(CUtensorMap* map, const Output<TC>& out) {
  const Output<TC> c = {out.C, out.N, out.M, out.alpha, out.beta, true};
  return encode_output(map, c, COLUMNS, 64);
}

// As StoreRing, of the four warps of a warpgroup together: COLUMNS of its 64 rows are as many rows
// of C, lines of 128 bytes, swizzled. A warp has 32 bytes of each.
template <int COLUMNS>
struct TransposedRing {
  static constexpr int SUMS = COLUMNS / 2, BUFFERS = 2, PIECE_BYTES = COLUMNS * 128;
  static constexpr int BYTES = BUFFERS * PIECE_BYTES / 4;  // of a warp
  uint32_t addr;                                           // of the warpgroup
  int buffer = 0;
  bool evict_first;

  // buffers: of the warp.
  template <class TC>
  __device__ TransposedRing(const unsigned char* buffers, const Output<TC>&, bool evict_first)
      : addr(smem_addr(buffers) - threadIdx.x / 32 % 4 * BYTES), evict_first(evict_first) {}
  __device__ static void meet() { bar_sync(1 + threadIdx.x / 128, 128); }
  // [put]
  template <class Pair>
  __device__ __forceinline__ static void put(uint32_t piece_addr, Pair pair) {
    // Of 16 rows and columns of the product, four 8x8: lane 8i + r names line r of the i-th. The
    // second one is below the first, in C to its right; the others are to the right, in C below.
    const int lane_id = threadIdx.x % 32, line = lane_id / 16 * 8 + lane_id % 8;
    const int at = swizzle<3, 3>(line * 64 + threadIdx.x / 32 % 4 * 16 + lane_id / 8 % 2 * 8);
#pragma unroll
    for (int j = 0; j < COLUMNS / 16; ++j) {
      const uint32_t pairs[4] = {pair(j * 4), pair(j * 4 + 1), pair(j * 4 + 2), pair(j * 4 + 3)};
      stmatrix_x4_trans(piece_addr + (at + j * 16 * 64) * 2, pairs);
    }
  }
  // [/put]
  // As StoreRing::store; row: of the warp's first one.
  template <class Pair>
  __device__ __forceinline__ void store(const CUtensorMap* map, int row, int col, Pair pair) {
    const bool first = threadIdx.x % 128 == 0;
    if (first) bulk_wait_read<BUFFERS - 1>();  // the engine has read this buffer
    meet();
    const uint32_t piece_addr = addr + buffer * PIECE_BYTES;
    put(piece_addr, pair);
    fence_proxy_async();
    meet();
    if (first) {
      if (evict_first)
        tma_store_2d_evict_first(map, piece_addr, row, col);
      else
        tma_store_2d(map, piece_addr, row, col);
      bulk_commit();
    }
    buffer ^= 1;
  }
  __device__ void finish() const {
    if (threadIdx.x % 128 == 0) bulk_wait_read<0>();
  }
};
