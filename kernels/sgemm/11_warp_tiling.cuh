// sgemm_11_warp_tiling: a warp owns 32x128 of C, a thread 16x8.
//
// Change: 128 threads instead of 256, each with twice the elements of C, and tiles 32 deep. Where
//   a thread computes follows from its warp (four, one below the other) and its lane (2 x 16).
// Per k a warp reads 16 values of A and 8 of B for 128 FMAs. The two rows of A are 16 * 32 floats
//   apart, so they share a bank: 2 wavefronts a load. The columns of B start 32 bytes apart: 8 a
//   16-byte load. 16 * 2 + 2 * 8 = 48 wavefronts.
// Registers: 3 blocks on an SM leave 168 a thread, and 128 are sums.
// Limit: shared-memory wavefronts: 4 * 48 = 192 cycles a block and k, for 128 cycles of FMAs.
// Source: article 001 kernel 05. Departs: the article's kernel 04 has this tile of a thread, these
//   threads and this depth already, so that its step changes the indices alone; B in 16-byte loads.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_11_warp_tiling {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 32, WN = 128;
constexpr int TM = 16, TN = 8;
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
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)), and the same for its lanes.
  const int m = warp_id / (BN / WN) * WM + lane_id / (WN / TN) * TM;
  const int n = warp_id % (BN / WN) * WN + lane_id % (WN / TN) * TN;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
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
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) rA[i] = sA[m + i][k0 + k];
#pragma unroll
      for (int j = 0; j < TN; j += 4) unpack4(&rB[j], load4(&sB[k][n + j]));
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rA[i] * rB[j];
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) write_c4(gC + (size_t)i * N + j, &acc[i][j], alpha, beta);
  // [/store]
}

}  // namespace sgemm_11_warp_tiling

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_11_warp_tiling(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_11_warp_tiling;
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WM % TM == 0 && WN % TN == 0 && 32 == WM / TM * (WN / TN), "lanes of a warp");
  static_assert(THREADS * 4 % BK == 0 && THREADS * 4 % BN == 0, "whole rows in every pass");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
