// A warp's part of C as WMITER x WNITER products of mma.sync.m16n8k16, once its fragments are in
// registers.
#pragma once
#include "../elements/half.cuh"
#include <ptx/mma.cuh>

// acc += a column of fragments of A by a row of fragments of B.
template <class T, int WMITER, int WNITER>
__device__ __forceinline__ void mma_tiles(float (&acc)[WMITER][WNITER][4],
                                          const uint32_t (&rA)[WMITER][4],
                                          const uint32_t (&rB)[WNITER][2]) {
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn) mma_m16n8k16<T>(acc[wm][wn], rA[wm], rB[wn]);
}

// gC: the warp's part, in rows of N elements. Of a 16x8, lane l holds columns l % 4 * 2 and the
// next, of row l / 4 and of the row 8 on.
template <class TC, int WMITER, int WNITER>
__device__ __forceinline__ void write_tiles(TC* gC, int N, const float (&acc)[WMITER][WNITER][4],
                                            int lane_id, float alpha, float beta) {
  gC += (size_t)(lane_id / 4) * N + lane_id % 4 * 2;
#pragma unroll
  for (int i = 0; i < WMITER * 16; i += 8)
#pragma unroll
    for (int j = 0; j < WNITER * 8; j += 8) {
      const float* sums = &acc[i / 16][j / 8][i % 16 / 4];
      write_c2(gC + (size_t)i * N + j, make_float2(sums[0], sums[1]), alpha, beta);
    }
}
