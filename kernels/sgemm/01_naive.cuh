// sgemm_01_naive: one thread computes one element of C.
//
// Mapping: threadIdx.x counts rows. Neighbouring lanes of a warp therefore sit in one column, and
//   every access of the warp to A and to C touches 32 rows: 32 sectors, 1024 bytes, for 128 used.
// Limit: the data stage of the L1 cache, 32 wavefronts for each load of A.
// Source: the textbook triple loop with the axes the wrong way round.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"

namespace sgemm_01_naive {

constexpr int BLOCK_ROWS = 32;  // threadIdx.x: a warp is 32 rows of one column
constexpr int BLOCK_COLS = 8;

__global__ void __launch_bounds__(BLOCK_ROWS* BLOCK_COLS)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  // [map]
  const int row = blockIdx.y * BLOCK_ROWS + threadIdx.x;
  const int col = blockIdx.x * BLOCK_COLS + threadIdx.y;
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

}  // namespace sgemm_01_naive

inline cudaError_t launch_sgemm_01_naive(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_01_naive;
  static_assert(BLOCK_ROWS == 32, "a warp must be one column of the block");
  return launch(kernel, dim3(ceil_div(g.N, BLOCK_COLS), ceil_div(g.M, BLOCK_ROWS)),
                dim3(BLOCK_ROWS, BLOCK_COLS), 0, stream, static_cast<const float*>(g.A),
                static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha,
                g.beta);
}
