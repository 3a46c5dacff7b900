// sgemm_03b_column_per_thread: eight elements of C per thread, one below the other, in registers.
//
// Change: 128 threads instead of 1024 for the same 32x32 tile, each with 8 rows of one column. A
//   value of B comes out of shared memory once and is used 8 times: 12 loads for 32 FMAs, where
//   block tiling has 5 for 4. A thread copies 8 values of either tile.
// Limit: shared-memory wavefronts. Per 32 FMAs a warp spends 16 on A and 4 on B: 0.63 for an FMA,
//   where block tiling has 1.5.
// Source: the course's own; publicly known as one-dimensional block tiling (S. Boehm's kernel 4).
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_03b_column_per_thread {

constexpr int BM = 32, BN = 32, BK = 32;
constexpr int TM = 8, TN = 1;
constexpr int THREADS = 128;
constexpr int ROWS = BM / TM;  // of threads

__global__ void __launch_bounds__(THREADS)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tx = threadIdx.x;  // column of the tile; the 32 lanes of a warp
  const int ty = threadIdx.y;  // the same for a whole warp
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: rows ty, ty + 4, .. ty + 28 of either tile. Computing: rows m to m + 7 of column tx.
  const int m = ty * TM;
  const float* gA = A + (size_t)(block_m + ty) * K + tx;
  const float* gB = B + (size_t)ty * N + block_n + tx;
  float* gC = C + (size_t)(block_m + m) * N + block_n + tx;
  // [/map]

  float acc[TM] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += ROWS) sA[ty + i][tx] = gA[(size_t)i * K];
#pragma unroll
    for (int i = 0; i < BK; i += ROWS) sB[ty + i][tx] = gB[(size_t)i * N];
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
#pragma unroll
    for (int k = 0; k < BK; k += 4) {
      float rB[4];  // four k of the thread's column: read once, used by 8 rows
#pragma unroll
      for (int j = 0; j < 4; ++j) rB[j] = sB[k + j][tx];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const float4 a = load4(&sA[m + i][k]);  // the same 16 bytes for all lanes
        acc[i] += a.x * rB[0];
        acc[i] += a.y * rB[1];
        acc[i] += a.z * rB[2];
        acc[i] += a.w * rB[3];
      }
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i) write_c(gC + (size_t)i * N, acc[i], alpha, beta);
  // [/store]
}

}  // namespace sgemm_03b_column_per_thread

// M, N and K are multiples of 32.
inline cudaError_t launch_sgemm_03b_column_per_thread(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_03b_column_per_thread;
  static_assert(BN == 32 && BK == 32, "a row of threads copies a row of either tile");
  static_assert(THREADS == BN * ROWS && TN == 1, "one thread per 8x1 of the tile");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(BN, ROWS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
