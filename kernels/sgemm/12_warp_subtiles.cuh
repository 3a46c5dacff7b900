// sgemm_12_warp_subtiles: a thread's 16x8 elements are four pieces of 8x4.
//
// Change: the warp's 32x128 are WMITER x WNITER subtiles of 16x64, and in each of them a thread has
//   TM x TN elements. Neighbouring lanes start 16 bytes apart in B and in C, not 32: a load of B
//   takes 4 wavefronts instead of 8, and a store of C fills its sectors.
// Per k and warp 16 * 2 + 2 * 4 = 40 wavefronts instead of 48, for the same instructions: 16 LDS, 2
//   LDS.128 and 128 FMAs.
// Limit: shared-memory wavefronts still: 4 * 40 = 160 cycles a block and k, for 128 cycles of FMAs.
//   Four fifths of them are A's, which lies along k.
// Source: article 001 kernel 06. Departs: B in 16-byte loads, written out.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_12_warp_subtiles {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 32, WN = 128;
// Any four with WM * WN == 32 * (WMITER * TM) * (WNITER * TN) will do.
constexpr int WMITER = 2;
constexpr int WNITER = 2;
constexpr int TM = 8;
constexpr int TN = 4;
constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS, 3)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 4 threads hold a row of A, BN / 4 threads a row of B.
  const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4;
  const int b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)), and the same for its lanes in a
  // subtile. These are the first row and column of the thread in the first of them.
  const int m = warp_id / (BN / WN) * WM + lane_id / (WSUBN / TN) * TM;
  const int n = warp_id % (BN / WN) * WN + lane_id % (WSUBN / TN) * TN;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[WMITER][WNITER][TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll 4  // four loads on their way: 168 registers have no room for more
    for (int i = 0; i < BM; i += THREADS * 4 / BK)
      store4(&sA[a_row + i][a_col], load4(gA + (size_t)i * K));
#pragma unroll 4
    for (int i = 0; i < BK; i += THREADS * 4 / BN)
      store4(&sB[b_row + i][b_col], load4(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
    // Always 0, which the compiler cannot know. It would else merge neighbouring k of A into one
    // load, and what is counted would not be what runs.
    const int k0 = K % BK;
#pragma unroll 8  // loads for one k are on their way during the products of another
    for (int k = 0; k < BK; ++k) {
      float rA[WMITER][TM], rB[WNITER][TN];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int i = 0; i < TM; ++i) rA[wm][i] = sA[m + wm * WSUBM + i][k0 + k];
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
        for (int j = 0; j < TN; j += 4) unpack4(&rB[wn][j], load4(&sB[k][n + wn * WSUBN + j]));
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
          for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; ++j) acc[wm][wn][i][j] += rA[wm][i] * rB[wn][j];
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
          write_c4(gC + (size_t)(wm * WSUBM + i) * N + wn * WSUBN + j, &acc[wm][wn][i][j], alpha,
                   beta);
  // [/store]
}

}  // namespace sgemm_12_warp_subtiles

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_12_warp_subtiles(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_12_warp_subtiles;
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WSUBM * WMITER == WM && WSUBN * WNITER == WN, "a warp's tile is whole subtiles");
  static_assert(WSUBM % TM == 0 && WSUBN % TN == 0 && TN % 4 == 0, "whole threads, 16-byte loads");
  static_assert(WM * WN == 32 * (WMITER * TM) * (WNITER * TN), "32 lanes cover each subtile");
  static_assert(THREADS * 4 % BK == 0 && THREADS * 4 % BN == 0, "whole rows in every pass");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
