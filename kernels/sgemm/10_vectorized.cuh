// sgemm_10_vectorized: copies and stores move 16 bytes, and registers hold what a k needs.
//
// Change: a thread copies one float4 of each tile instead of four values, and stores C in float4. 8
//   values of A and 8 of B are read once per k and used 8 times each, now in the source too.
// Per k the hardware sees the same loads and FMAs as before, since nvcc had already kept the values
//   in registers. New to it: the tile's eight k are unrolled, and copies and stores of C take a
//   quarter of the instructions.
// Limit: shared-memory wavefronts. The two rows of A that a warp reads share a bank: 2 a load. The
//   columns of its threads start 32 bytes apart in B: 8 a load, where 4 would do. That is 32 per k
//   and warp, 256 cycles a block for 128 cycles of FMAs.
// Source: article 001 kernel 04. Departs: 8x8 elements a thread, 256 threads and tiles 8 deep; the
//   article's figures imply 16x8, 128 and 32. B in 16-byte loads, written out.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_10_vectorized {

constexpr int BM = 128, BN = 128, BK = 8;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tid = threadIdx.x;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 4 threads hold a row of A, BN / 4 threads a row of B.
  const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4;
  const int b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
  // Computing: thread (tid / 16, tid % 16) of 16 x 16.
  const int m = tid / (BN / TN) * TM;
  const int n = tid % (BN / TN) * TN;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * 4 / BK)
      store4(&sA[a_row + i][a_col], load4(gA + (size_t)i * K));
#pragma unroll
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

}  // namespace sgemm_10_vectorized

// M and N are multiples of 128, K of 8; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_10_vectorized(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_10_vectorized;
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 4 % BK == 0 && THREADS * 4 % BN == 0, "whole rows in every pass");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
