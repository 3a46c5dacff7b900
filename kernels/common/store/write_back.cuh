// A block's tile of C from the sums of its warps to global memory, through shared memory: in whole
// lines, 16 bytes a thread, without a bank conflict.
#pragma once
#include "../elements/half.cuh"
#include "../elements/vec.cuh"
#include "../tile/swizzle.cuh"

// gC: the tile, BM x BN, in rows of N elements. acc: of warp (w / (BN / WN), w % (BN / WN)), as
// WM / 16 x WN / 8 products of mma.sync.m16n8k16. sC: SMEM_BYTES of shared memory, aligned to 128,
// which hold the whole tile, or the rows of one row of warps. All THREADS threads call it; it
// begins with a barrier, so what sC held may have been read just before.
// GUARDED: only the first `rows` rows and `cols` columns are in C, others are neither read nor
// written; N and gC are any, and where they allow no 16 bytes at a time, a warp writes 32
// neighbours. Else: the tile is in C, and gC and its rows are 16-byte aligned.
template <int BM, int BN, int WM, int WN, int THREADS, int SMEM_BYTES, bool GUARDED, class TC>
__device__ __forceinline__ void write_back_guarded(TC* sC, TC* gC, int N, int rows, int cols,
                                                   const float (&acc)[WM / 16][WN / 8][4],
                                                   float alpha, float beta) {
  constexpr int BITS_C = 3, SHIFT_C = 3 + BN / 128;                   // by bits 0 to 2 of the row
  constexpr int ROWS = BM * BN * sizeof(TC) <= SMEM_BYTES ? BM : WM;  // at a time
  constexpr int COUNT = 16 / sizeof(TC);                              // elements in 16 bytes
  static_assert(BN == 64 || BN == 128 || BN == 256, "a row has 1 << (3 + SHIFT_C) elements");
  static_assert(WM * BN * sizeof(TC) <= SMEM_BYTES, "shared memory holds the rows of a warp");
  static_assert(THREADS % BN == 0 || !GUARDED, "the threads write whole rows at a time");
  const int tid = threadIdx.x, warp_id = tid / 32, lane_id = tid % 32;
  const int m = warp_id / (BN / WN) * WM, n = warp_id % (BN / WN) * WN;
  const int c_row = m + lane_id / 4, c_col = n + lane_id % 4 * 2;
  // This thread's first 16 bytes of the tile. Guarded tiles compute the place below, where they
  // need it: kept from here on, it would give them other instructions.
  const int my_row = tid * COUNT / BN, my_col = tid * COUNT % BN;
#pragma unroll
  for (int first = 0; first < BM; first += ROWS) {
    __syncthreads();  // everyone has read what was there
    if (ROWS == BM || m == first) {
      const int at = swizzle<BITS_C, SHIFT_C>((c_row - first) * BN + c_col);
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
    }
    __syncthreads();  // these rows are in place
    if (!GUARDED || (N % COUNT == 0 && reinterpret_cast<size_t>(gC) % 16 == 0)) {
      const int row = GUARDED ? tid * COUNT / BN : my_row;
      const int col = GUARDED ? tid * COUNT % BN : my_col;
      TC* to = gC + (size_t)(first + row) * N + col;
#pragma unroll
      for (int i = 0; i < ROWS; i += THREADS * COUNT / BN) {
        const TC* from = sC + swizzle<BITS_C, SHIFT_C>((row + i) * BN + col);
        if (!GUARDED || (first + row + i < rows && col < cols))
          store4(reinterpret_cast<float*>(to + (size_t)i * N),
                 load4(reinterpret_cast<const float*>(from)));
      }
    } else {
      const int col = tid % BN;
#pragma unroll 4
      for (int i = tid / BN; i < min(ROWS, rows - first); i += THREADS / BN)
        if (col < cols)
          gC[(size_t)(first + i) * N + col] = sC[swizzle<BITS_C, SHIFT_C>(i * BN + col)];
    }
  }
}

// The same for a tile that is in C as a whole.
template <int BM, int BN, int WM, int WN, int THREADS, int SMEM_BYTES, class TC>
__device__ __forceinline__ void write_back(TC* sC, TC* gC, int N,
                                           const float (&acc)[WM / 16][WN / 8][4], float alpha,
                                           float beta) {
  write_back_guarded<BM, BN, WM, WN, THREADS, SMEM_BYTES, false>(sC, gC, N, BM, BN, acc, alpha,
                                                                 beta);
}
