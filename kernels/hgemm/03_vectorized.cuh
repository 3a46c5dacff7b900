// hgemm_03_vectorized: a thread computes 8x8 of a 128x128 tile, and moves 16 bytes at a time.
//
// Change: 256 threads. Registers hold what a k needs: 8 values of A and 8 of B, used 8 times each
//   and converted once. 16 bytes are 8 elements: one load brings a thread's values of B, and with
//   tiles 16 deep each thread copies once to each of them.
// Why two k at a time: neighbouring k of A are one word of 4 bytes, as wide as a bank. Read one by
//   one, they would take as many loads and wavefronts as in fp32.
// For two k a warp loads 8 times from A, with 2 wavefronts (its two rows share a bank), and twice
//   from B, with 4: 12 wavefronts a k, where sgemm_10_vectorized takes 32.
// Limit: instructions. Of the 85 of a k, 64 are FMAs, 16 conversions, 5 loads.
// Source: article 001 kernel 04 in mixed precision.
// In the article: no code; its author's has 16x8 elements a thread, 128 threads
//   and BK 32 (the experiment "hgemm 03, 16x8 a thread"), and reads one k of A at a time.
#pragma once
#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_03_vectorized {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) T sA[BM][BK];
  __shared__ __align__(16) T sB[BK][BN];

  const int tid = threadIdx.x;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 8 threads hold a row of A, BN / 8 threads a row of B.
  const int a_row = tid / (BK / 8), a_col = tid % (BK / 8) * 8;
  const int b_row = tid / (BN / 8), b_col = tid % (BN / 8) * 8;
  // Computing: thread (tid / 16, tid % 16) of 16 x 16.
  const int m = tid / (BN / TN) * TM;
  const int n = tid % (BN / TN) * TN;
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

}  // namespace hgemm_03_vectorized

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_03_vectorized(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_03_vectorized;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 8 % BK == 0 && THREADS * 8 % BN == 0, "whole rows in every pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
