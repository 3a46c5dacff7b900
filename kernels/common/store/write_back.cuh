// A block's tile of C from the sums of its warps to global memory, through shared memory: in whole
// lines, 16 bytes a thread, without a bank conflict.
#pragma once
#include "../elements/half.cuh"
#include "../tile/swizzle.cuh"
#include "../elements/vec.cuh"

// gC: the tile, BM x BN, in rows of N elements. acc: of warp (w / (BN / WN), w % (BN / WN)), as
// WM / 16 x WN / 8 products of mma.sync.m16n8k16. sC: SMEM_BYTES of shared memory, aligned to 128,
// which hold the whole tile, or the rows of one row of warps. All THREADS threads call it; it
// begins with a barrier, so what sC held may have been read just before.
template <int BM, int BN, int WM, int WN, int THREADS, int SMEM_BYTES, class TC>
__device__ __forceinline__ void write_back(TC* sC, TC* gC, int N,
                                           const float (&acc)[WM / 16][WN / 8][4], float alpha,
                                           float beta) {
  constexpr int BITS_C = 3, SHIFT_C = BN == 128 ? 4 : 5;              // by bits 0 to 2 of the row
  constexpr int ROWS = BM * BN * sizeof(TC) <= SMEM_BYTES ? BM : WM;  // at a time
  constexpr int COUNT = 16 / sizeof(TC);                              // elements in 16 bytes
  static_assert(BN == 128 || BN == 256, "the swizzle is known");
  static_assert(WM * BN * sizeof(TC) <= SMEM_BYTES, "shared memory holds the rows of a warp");
  const int tid = threadIdx.x, warp_id = tid / 32, lane_id = tid % 32;
  const int m = warp_id / (BN / WN) * WM, n = warp_id % (BN / WN) * WN;
  const int c_row = m + lane_id / 4, c_col = n + lane_id % 4 * 2;
  const int row = tid * COUNT / BN, col = tid * COUNT % BN;
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
            const float2 old = load2(gC + (size_t)(c_row + i) * N + c_col + j);
            c.x += beta * old.x, c.y += beta * old.y;
          }
          store2(sC + (at ^ j) + i * BN, c);
        }
    }
    __syncthreads();  // these rows are in place
    TC* to = gC + (size_t)(first + row) * N + col;
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS * COUNT / BN)
      store4(reinterpret_cast<float*>(to + (size_t)i * N),
             load4(reinterpret_cast<const float*>(sC +
                                                  swizzle<BITS_C, SHIFT_C>((row + i) * BN + col))));
  }
}
