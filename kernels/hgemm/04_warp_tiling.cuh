// hgemm_04_warp_tiling: a warp owns 32x128 of C, a thread 16x8.
//
// Change: 128 threads instead of 256, each with twice the elements of C, and tiles 32 deep. Where
//   a thread computes follows from its warp (four, one below the other) and its lane (2 x 16).
// Per k a warp converts 24 values for 128 FMAs; before, 16 for 64. Its 8 loads of A take 2
//   wavefronts each, the one of B 4: 20, where sgemm_11_warp_tiling takes 48.
// Registers: 128 are sums. 3 blocks on an SM would leave 168 a thread, too few for two k of A: 2.
// Limit: instructions. Of the 161 of a k, 128 are FMAs, 24 conversions, 9 loads.
// Source: article 001 kernel 05 in mixed precision.
// In the article: no code; two k of A are one word.
#pragma once
#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_04_warp_tiling {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 32, WN = 128;
constexpr int TM = 16, TN = 8;
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) T sA[BM][BK];
  __shared__ __align__(16) T sB[BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 8 threads hold a row of A, BN / 8 threads a row of B.
  const int a_row = tid / (BK / 8), a_col = tid % (BK / 8) * 8;
  const int b_row = tid / (BN / 8), b_col = tid % (BN / 8) * 8;
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)), and the same for its lanes.
  const int m = warp_id / (BN / WN) * WM + lane_id / (WN / TN) * TM;
  const int n = warp_id % (BN / WN) * WN + lane_id % (WN / TN) * TN;
  const T* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const T* gB = B + (size_t)b_row * N + block_n + b_col;
  TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * 8 / BK)
      store8(&sA[a_row + i][a_col], load8(gA + (size_t)i * K));
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 8 / BN)
      store8(&sB[b_row + i][b_col], load8(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
    // Always 0, which the compiler cannot know. It would else merge neighbouring k of A into one
    // load, and what is counted would not be what runs.
    const int k0 = K % BK;
#pragma unroll 4  // loads for some k are on their way during the products of others
    for (int k = 0; k < BK; k += 2) {
      float rA[TM][2], rB[TN];  // of two k, of one
#pragma unroll
      for (int i = 0; i < TM; ++i) unpack2<T>(rA[i], load_pair(&sA[m + i][k0 + k]));
#pragma unroll
      for (int kk = 0; kk < 2; ++kk) {
#pragma unroll
        for (int j = 0; j < TN; j += 8) unpack8<T>(&rB[j], load8(&sB[k + kk][n + j]));
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) acc[i][j] += rA[i][kk] * rB[j];
      }
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 8) write_c8(gC + (size_t)i * N + j, &acc[i][j], alpha, beta);
  // [/store]
}

}  // namespace hgemm_04_warp_tiling

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_04_warp_tiling(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_04_warp_tiling;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WM % TM == 0 && WN % TN == 0 && 32 == WM / TM * (WN / TN), "lanes of a warp");
  static_assert(THREADS * 8 % BK == 0 && THREADS * 8 % BN == 0, "whole rows in every pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
