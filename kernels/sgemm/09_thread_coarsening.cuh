// sgemm_09_thread_coarsening: 8x8 elements of C per thread, and nothing else yet.
//
// Change: a block owns 128x128 of C with 256 threads, and the tiles are 8 deep. A thread copies
//   four values of each, one at a time, and every product names its operands in shared memory.
// Source and machine code differ: the source asks for 128 loads of 4 bytes per k, 384 wavefronts of
//   a warp, and the simulator counts those. nvcc reads 8 values of A and 8 neighbours of B once and
//   keeps them in registers: 8 LDS and 2 LDS.128 per k, 32 wavefronts.
// Limit: shared-memory wavefronts: 8 * 32 = 256 cycles a block and k, for 128 cycles of FMAs. A
//   store of C touches 32 sectors for 128 bytes.
// Source: article 001 kernel 03, a sketch only: its tile and the depth of 8 are ours.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"

namespace sgemm_09_thread_coarsening {

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
  // Copying: 8 threads hold a row of A (8 floats), 128 threads a row of B (128 floats).
  const int a_row = tid / BK, a_col = tid % BK;
  const int b_row = tid / BN, b_col = tid % BN;
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
    for (int i = 0; i < BM; i += THREADS / BK) sA[a_row + i][a_col] = gA[(size_t)i * K];
#pragma unroll
    for (int i = 0; i < BK; i += THREADS / BN) sB[b_row + i][b_col] = gB[(size_t)i * N];
    __syncthreads();  // both tiles are in place
    // [/load]

    // [dot]
    for (int k = 0; k < BK; ++k)
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += sA[m + i][k] * sB[k][n + j];
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) write_c(gC + (size_t)i * N + j, acc[i][j], alpha, beta);
  // [/store]
}

}  // namespace sgemm_09_thread_coarsening

// M and N are multiples of 128, K of 8.
inline cudaError_t launch_sgemm_09_thread_coarsening(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_09_thread_coarsening;
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS % BK == 0 && THREADS % BN == 0, "whole rows in every pass of the copies");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
