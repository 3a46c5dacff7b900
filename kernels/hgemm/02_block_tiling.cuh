// hgemm_02_block_tiling: a block stages tiles of A and B in shared memory.
//
// Change: 32x32 threads copy one 32x32 tile of A and of B, wait, and read each value 32 times from
//   shared memory. The tiles stay 16 bits wide: a value becomes a float each time it is read.
// Why eight k at a time: a thread's next eight values of A are 16 neighbouring bytes. The compiler
//   would merge those loads; written out, what is counted is what runs.
// Limit: instructions. For one FMA a warp converts two values and loads one of B, of which it takes
//   2 bytes a lane: half of what a wavefront can carry.
// Source: article 001 kernel 02 in mixed precision.
// In the article: no code; eight k of A are read at once.
#pragma once
#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_02_block_tiling {

constexpr int BM = 32, BN = 32, BK = 32;

template <class T, class TC>
__global__ void __launch_bounds__(BM* BN)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) T sA[BM][BK];
  __shared__ __align__(16) T sB[BK][BN];

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
    for (int k = 0; k < BK; k += 8) {
      float rA[8];
      unpack8<T>(rA, load8(&sA[ty][k]));  // the same 16 bytes for all lanes
#pragma unroll
      for (int i = 0; i < 8; ++i) acc += rA[i] * to_float(sB[k + i][tx]);
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }
  // [store]
  write_c(&C[(size_t)row * N + col], acc, alpha, beta);
  // [/store]
}

}  // namespace hgemm_02_block_tiling

// M, N and K are multiples of 32.
template <class T, class TC>
inline cudaError_t launch_hgemm_02_block_tiling(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_02_block_tiling;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BN == 32 && BM == BK && BN == BK, "each thread copies one element of each tile");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(BN, BM), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
