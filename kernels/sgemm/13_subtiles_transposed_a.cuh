// sgemm_13_subtiles_transposed_a: A is transposed on its way, so that all loads take 16 bytes.
//
// Change: sA is (BK, BM). The 8 rows of a subtile that a thread needs for one k are two 16-byte
//   loads of 2 wavefronts each: 4 * 2 + 2 * 4 = 16 per k and warp instead of 40.
// Price: a thread's four values along k go to four rows of sA, 4 bytes each. The lanes of a warp
//   hold 8 columns of k by 4 rows, and the rows of sA are 512 bytes apart: 8 lanes meet in each of
//   four banks, and a store takes 8 wavefronts instead of 1 (the article expects 32).
// Limit: what delays the FMA pipe. The loads are 4 * 16 = 64 cycles a block and k, for 128 of FMAs;
//   the stores add 1,152 cycles a tile, between two barriers, to 4,096 of FMAs.
// Source: article 001 kernel 07.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_13_subtiles_transposed_a {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 32, WN = 128;
constexpr int WMITER = 2;
constexpr int WNITER = 2;
constexpr int TM = 8;
constexpr int TN = 4;
constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS, 3)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BK][BM];  // transposed
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
    for (int i = 0; i < BM; i += THREADS * 4 / BK) {
      const float4 a = load4(gA + (size_t)i * K);
      sA[a_col + 0][a_row + i] = a.x;
      sA[a_col + 1][a_row + i] = a.y;
      sA[a_col + 2][a_row + i] = a.z;
      sA[a_col + 3][a_row + i] = a.w;
    }
#pragma unroll 4
    for (int i = 0; i < BK; i += THREADS * 4 / BN)
      store4(&sB[b_row + i][b_col], load4(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
#pragma unroll 8  // loads for one k are on their way during the products of another
    for (int k = 0; k < BK; ++k) {
      float rA[WMITER][TM], rB[WNITER][TN];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int i = 0; i < TM; i += 4) unpack4(&rA[wm][i], load4(&sA[k][m + wm * WSUBM + i]));
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

}  // namespace sgemm_13_subtiles_transposed_a

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_13_subtiles_transposed_a(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_13_subtiles_transposed_a;
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WSUBM * WMITER == WM && WSUBN * WNITER == WN, "a warp's tile is whole subtiles");
  static_assert(WSUBM % TM == 0 && WSUBN % TN == 0, "whole threads");
  static_assert(TM % 4 == 0 && TN % 4 == 0, "16-byte loads");
  static_assert(WM * WN == 32 * (WMITER * TM) * (WNITER * TN), "32 lanes cover each subtile");
  static_assert(THREADS * 4 % BK == 0 && THREADS * 4 % BN == 0, "whole rows in every pass");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
