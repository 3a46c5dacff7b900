// sgemm_03_block_tiling: a block stages tiles of A and B in shared memory.
//
// Change: 32x32 threads copy one 32x32 tile of A and of B, wait, and read each value 32 times from
//   shared memory. A thread issues 32 times fewer global loads, for 20 times fewer sectors; the
//   loads of the inner loop move to shared memory.
// Why four k at a time: a thread's next four values of A are 16 neighbouring bytes. The compiler
//   would merge those loads; written out, what is counted is what runs.
// Limit: shared-memory wavefronts. Per four FMAs a warp spends 2 on A and 4 on B.
// Source: article 001 kernel 02. Departs: four k of A in one load, written out.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_03_block_tiling {

constexpr int BM = 32, BN = 32, BK = 32;

__global__ void __launch_bounds__(BM* BN)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tx = threadIdx.x;  // column of the tile; the 32 lanes of a warp
  const int ty = threadIdx.y;  // row of the tile; the same for a whole warp
  const int row = blockIdx.y * BM + ty;
  const int col = blockIdx.x * BN + tx;

  float acc = 0.0f;
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [load]
    sA[ty][tx] = A[(size_t)row * K + k_tile + tx];
    sB[ty][tx] = B[(size_t)(k_tile + ty) * N + col];
    __syncthreads();  // every value of both tiles is in place before anyone reads

    // [/load]
    // [dot]
#pragma unroll
    for (int k = 0; k < BK; k += 4) {
      const float4 a = load4(&sA[ty][k]);  // the same 16 bytes for all lanes
      acc += a.x * sB[k][tx];
      acc += a.y * sB[k + 1][tx];
      acc += a.z * sB[k + 2][tx];
      acc += a.w * sB[k + 3][tx];
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }
  write_c(&C[(size_t)row * N + col], acc, alpha, beta);
}

}  // namespace sgemm_03_block_tiling

// M, N and K are multiples of 32.
inline cudaError_t launch_sgemm_03_block_tiling(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_03_block_tiling;
  static_assert(BN == 32 && BM == BK && BN == BK, "each thread copies one element of each tile");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(BN, BM), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
