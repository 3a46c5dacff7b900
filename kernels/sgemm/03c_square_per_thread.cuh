// sgemm_03c_square_per_thread: 8x8 elements of C per thread, one value at a time.
//
// Change: a thread has 8 columns as well as 8 rows, and a block 128x128 of C with 256 threads. For
//   each k a thread reads 8 values of A and 8 of B, 16 loads for 64 FMAs, where a column has 1.1
//   loads for an FMA if each takes one value.
// Columns: a thread's are 16 apart, so that neighbouring lanes read neighbours of B.
// Limit: shared-memory wavefronts. The two rows of A that a warp reads are 8 * 64 = 512 bytes
//   apart and share a bank: 8 loads of 2, and 8 of 1 for B, 24 for 64 FMAs.
// Source: the course's own; publicly known as two-dimensional block tiling (S. Boehm's kernel 5).
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"

namespace sgemm_03c_square_per_thread {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = 256;
constexpr int COLS = BN / TN;  // threads beside each other

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tid = threadIdx.x;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: 16 threads hold a row of A (16 floats), 128 threads a row of B (128 floats).
  const int a_row = tid / BK, a_col = tid % BK;
  const int b_row = tid / BN, b_col = tid % BN;
  // Computing: rows m to m + 7, and columns n, n + 16, .. n + 112.
  const int m = tid / COLS * TM;
  const int n = tid % COLS;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += THREADS / BK) sA[a_row + i][a_col] = gA[(size_t)i * K];
#pragma unroll
    for (int i = 0; i < BK; i += THREADS / BN) sB[b_row + i][b_col] = gB[(size_t)i * N];
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
#pragma unroll 1  // one k at a time: the compiler would else merge a row's loads of A
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) rA[i] = sA[m + i][k];
#pragma unroll
      for (int j = 0; j < TN; ++j) rB[j] = sB[k][n + j * COLS];
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
    for (int j = 0; j < TN; ++j) write_c(gC + (size_t)i * N + j * COLS, acc[i][j], alpha, beta);
  // [/store]
}

}  // namespace sgemm_03c_square_per_thread

// M and N are multiples of 128, K of 16.
inline cudaError_t launch_sgemm_03c_square_per_thread(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_03c_square_per_thread;
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS % BK == 0 && THREADS % BN == 0, "whole rows in every pass of the copies");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
