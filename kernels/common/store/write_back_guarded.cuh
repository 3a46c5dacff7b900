// A block's tile of C from the sums of its warps to global memory, through shared memory, as
// write_back.cuh does it, for more tiles, and for those that reach over the edge of C.
#pragma once
#include "../elements/half.cuh"
#include "../tile/swizzle.cuh"
#include "../elements/vec.cuh"

// gC: the tile, BM x BN, in rows of N elements. GUARDED: only its first `rows` rows and `cols`
// columns are in C, others are neither read nor written; N and gC are any, and where they allow no
// 16 bytes at a time, a warp writes 32 neighbours. Else: the tile is in C, and gC and its rows are
// 16-byte aligned. acc: of warp (w / (BN / WN), w % (BN / WN)), as WM / 16 x WN / 8 products of
// mma.sync.m16n8k16. sC: BM * BN elements of shared memory, aligned to 128. All THREADS threads
// call it; it begins with a barrier, so what sC held may have been read just before.
template <int BM, int BN, int WM, int WN, int THREADS, bool GUARDED, class TC>
__device__ __forceinline__ void write_back_guarded(TC* sC, TC* gC, int N, int rows, int cols,
                                                   const float (&acc)[WM / 16][WN / 8][4],
                                                   float alpha, float beta) {
  constexpr int BITS_C = 3, SHIFT_C = 3 + BN / 128;  // by bits 0 to 2 of the row
  constexpr int COUNT = 16 / sizeof(TC);             // elements in 16 bytes
  static_assert(BN == 64 || BN == 128 || BN == 256, "a row has 1 << (3 + SHIFT_C) elements");
  static_assert(THREADS % BN == 0, "the threads write whole rows at a time");
  const int tid = threadIdx.x, warp_id = tid / 32, lane_id = tid % 32;
  const int m = warp_id / (BN / WN) * WM, n = warp_id % (BN / WN) * WN;
  const int c_row = m + lane_id / 4, c_col = n + lane_id % 4 * 2;
  const int at = swizzle<BITS_C, SHIFT_C>(c_row * BN + c_col);
  __syncthreads();  // everyone has read what was there
#pragma unroll
  for (int i = 0; i < WM; i += 8)
#pragma unroll
    for (int j = 0; j < WN; j += 8) {
      const float* sums = &acc[i / 16][j / 8][i % 16 / 4];
      float2 c = make_float2(alpha * sums[0], alpha * sums[1]);
      if (beta != 0.0f) {
        const TC* from = gC + (size_t)(c_row + i) * N + c_col + j;
        if constexpr (GUARDED) {
          const int left = c_row + i < rows ? cols - c_col - j : 0;
          if (left > 0) c.x += beta * to_float(from[0]);
          if (left > 1) c.y += beta * to_float(from[1]);
        } else {
          const float2 old = load2(from);
          c.x += beta * old.x, c.y += beta * old.y;
        }
      }
      store2(sC + (at ^ j) + i * BN, c);
    }
  __syncthreads();  // the tile is in place
  if (!GUARDED || (N % COUNT == 0 && reinterpret_cast<size_t>(gC) % 16 == 0)) {
    const int row = tid * COUNT / BN, col = tid * COUNT % BN;
    TC* to = gC + (size_t)row * N + col;
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * COUNT / BN) {
      const TC* from = sC + swizzle<BITS_C, SHIFT_C>((row + i) * BN + col);
      if (!GUARDED || (row + i < rows && col < cols))
        store4(reinterpret_cast<float*>(to + (size_t)i * N),
               load4(reinterpret_cast<const float*>(from)));
    }
  } else {
    const int col = tid % BN;
#pragma unroll 4
    for (int i = tid / BN; i < min(BM, rows); i += THREADS / BN)
      if (col < cols) gC[(size_t)i * N + col] = sC[swizzle<BITS_C, SHIFT_C>(i * BN + col)];
  }
}
