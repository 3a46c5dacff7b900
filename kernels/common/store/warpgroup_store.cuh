// A warpgroup's sums to C: by its threads, or by the copy engine out of shared memory of each warp.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/stmatrix.cuh>
#include <ptx/tma.cuh>

#include "../elements/half_vec.cuh"
#include "../tile/swizzle.cuh"
#include "warp_store.cuh"

// Row and column of this thread's first sum in the 64 rows of its warpgroup. Sums 4j and 4j + 1 are
// neighbours, 8j columns further; the next two are 8 rows below.
__device__ __forceinline__ int2 sums_place() {
  return make_int2(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, threadIdx.x % 4 * 2);
}

// The sums become alpha * sums + beta * C. row, col: of their first one; N is even.
template <int COUNT, class TC>
__device__ __forceinline__ void scale_sums(const Output<TC>& out, int row, int col,
                                           float (&acc)[COUNT]) {
  if (out.alpha == 1.0f && out.beta == 0.0f) return;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) acc[i] *= out.alpha;
  if (out.beta == 0.0f) return;
  const int2 at = sums_place();
  const TC* from = out.C + (size_t)(row + at.x) * out.N + col + at.y;
#pragma unroll
  for (int i = 0; i < COUNT; i += 2) {
    const int down = i % 4 * 4, right = i / 4 * 8;
    if (row + at.x + down >= out.M || col + at.y + right >= out.N) continue;
    const float2 old = load2(from + (size_t)down * out.N + right);
    acc[i] += out.beta * old.x, acc[i + 1] += out.beta * old.y;
  }
}

// Scaled sums, by the threads: two neighbours each, four lanes side by side.
template <int COUNT, class TC>
__device__ __forceinline__ void store_sums(const Output<TC>& out, int row, int col,
                                           const float (&acc)[COUNT]) {
  const int2 at = sums_place();
  TC* to = out.C + (size_t)(row + at.x) * out.N + col + at.y;
#pragma unroll
  for (int i = 0; i < COUNT; i += 2) {
    const int down = i % 4 * 4, right = i / 4 * 8;
    if (row + at.x + down < out.M && col + at.y + right < out.N)
      store2(to + (size_t)down * out.N + right, make_float2(acc[i], acc[i + 1]));
  }
}

// COLUMNS of a warp's 16 rows at a time: 16 lines of 128 bytes, swizzled, in one of BUFFERS that
// the warp has to itself; the copy engine takes them from there. EVICT_FIRST: what it writes leaves
// the L2 before what is read.
template <bool EVICT_FIRST = false, int COLUMNS = 64>
struct StoreRing {
  static constexpr int SUMS = COLUMNS / 2;  // of a thread, in a piece
  static constexpr int BUFFERS = 2, PIECE_BYTES = 16 * 128, BYTES = BUFFERS * PIECE_BYTES;
  uint32_t addr;  // aligned to 1024
  int buffer = 0;

  __device__ explicit StoreRing(uint32_t addr) : addr(addr) {}
  // [put]
  template <class Pair>
  __device__ __forceinline__ static void put(uint32_t piece_addr, Pair pair) {
    // A 16x16 is four 8x8 for stmatrix; lane l names row l % 16, in the left half for l < 16.
    const int lane_id = threadIdx.x % 32;
    const int at = swizzle<3, 3>(lane_id % 16 * 64 + lane_id / 16 * 8);
#pragma unroll
    for (int j = 0; j < COLUMNS / 16; ++j) {
      const uint32_t pairs[4] = {pair(j * 4), pair(j * 4 + 1), pair(j * 4 + 2), pair(j * 4 + 3)};
      stmatrix_x4(piece_addr + (at ^ j * 16) * 2, pairs);
    }
  }
  // [/put]
  // pair(i): sums 2i and 2i + 1 of those of these columns, in 16 bits. map: of C, in boxes of 16
  // rows. row, col: of the first element.
  template <class Pair>
  __device__ __forceinline__ void store(const CUtensorMap* map, int row, int col, Pair pair,
                                        bool evict_first = EVICT_FIRST) {
    const int lane_id = threadIdx.x % 32;
    if (lane_id == 0) bulk_wait_read<BUFFERS - 1>();  // the engine has read this buffer
    __syncwarp();
    const uint32_t piece_addr = addr + buffer * PIECE_BYTES;
    put(piece_addr, pair);
    fence_proxy_async();
    __syncwarp();
    if (lane_id == 0) {
      if (evict_first)
        tma_store_2d_evict_first(map, piece_addr, col, row);
      else
        tma_store_2d(map, piece_addr, col, row);
      bulk_commit();
    }
    buffer ^= 1;
  }
  // Shared memory lasts until the engine has read it.
  __device__ void finish() const {
    if (threadIdx.x % 32 == 0) bulk_wait_read<0>();
  }
};

// Scaled sums of 64 rows: in 16 bits by the engine, else by the threads.
template <class Ring, int COUNT, class TC>
__device__ __forceinline__ void store_rows(const Output<TC>& out, const CUtensorMap* map,
                                           Ring& ring, int row, int col,
                                           const float (&acc)[COUNT]) {
  if constexpr (is_half<TC>) {
#pragma unroll
    for (int n = 0; n < COUNT; n += Ring::SUMS)
      ring.store(map, row + threadIdx.x % 128 / 32 * 16, col + n * 2,
                 [&](int i) { return pack2<TC>(acc[n + 2 * i], acc[n + 2 * i + 1]); });
  } else {
    store_sums(out, row, col, acc);
  }
}
