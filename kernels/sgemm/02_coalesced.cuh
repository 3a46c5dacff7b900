// sgemm_02_coalesced: the same loop, with the two thread axes swapped.
//
// Change: threadIdx.x counts columns. The 32 lanes of a warp read one element of A (a broadcast)
//   and 32 neighbours of B, and write 32 neighbours of C: 1, 4 and 4 sectors per request.
// Limit: loads. Every FMA needs two of them, and the L1 serves a warp's load in one cycle at best.
// Source: article 003 sgemm_naive, article 001 kernel 01. Departs: blocks of 8x32, where article
// 003
//   has 16x16 and article 001 32x32.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"

namespace sgemm_02_coalesced {

constexpr int BLOCK_ROWS = 8;
constexpr int BLOCK_COLS = 32;  // threadIdx.x: a warp is 32 columns of one row

__global__ void __launch_bounds__(BLOCK_ROWS* BLOCK_COLS)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  // [map]
  const int row = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  const int col = blockIdx.x * BLOCK_COLS + threadIdx.x;
  // [/map]
  if (row >= M || col >= N) return;

  // [dot]
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    const float a = A[(size_t)row * K + k];
    const float b = B[(size_t)k * N + col];
    acc += a * b;
  }
  // [/dot]
  // [store]
  write_c(&C[(size_t)row * N + col], acc, alpha, beta);
  // [/store]
}

}  // namespace sgemm_02_coalesced

inline cudaError_t launch_sgemm_02_coalesced(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_02_coalesced;
  static_assert(BLOCK_COLS == 32, "a warp must be one row of the block");
  return launch(kernel, dim3(ceil_div(g.N, BLOCK_COLS), ceil_div(g.M, BLOCK_ROWS)),
                dim3(BLOCK_COLS, BLOCK_ROWS), 0, stream, static_cast<const float*>(g.A),
                static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha,
                g.beta);
}
