// hgemm_01_naive: one thread computes one element of C, from inputs of 16 bits.
//
// Mapping: a warp is 32 columns of one row, as in sgemm_02_coalesced. Its 32 neighbours of B are 64
//   bytes now, 2 sectors a request instead of 4.
// Each factor becomes a float before it is multiplied, so products are exact and sums are fp32: two
//   more instructions for each FMA.
// Limit: loads. Every FMA needs two of them, as many as in fp32, only of half the bytes.
// Source: article 001 kernel 01 in mixed precision.
// In the article: no code.
#pragma once
#include "../common/elements/half.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_01_naive {

constexpr int BLOCK_ROWS = 32;
constexpr int BLOCK_COLS = 32;  // threadIdx.x: a warp is 32 columns of one row

template <class T, class TC>
__global__ void __launch_bounds__(BLOCK_ROWS* BLOCK_COLS)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  // [map]
  const int row = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  const int col = blockIdx.x * BLOCK_COLS + threadIdx.x;
  // [/map]
  if (row >= M || col >= N) return;

  // [dot]
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    const T a = A[(size_t)row * K + k];
    const T b = B[(size_t)k * N + col];
    acc += to_float(a) * to_float(b);
  }
  // [/dot]
  // [store]
  write_c(&C[(size_t)row * N + col], acc, alpha, beta);
  // [/store]
}

}  // namespace hgemm_01_naive

template <class T, class TC>
inline cudaError_t launch_hgemm_01_naive(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_01_naive;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BLOCK_COLS == 32, "a warp must be one row of the block");
  return launch(kernel<T, TC>, dim3(ceil_div(g.N, BLOCK_COLS), ceil_div(g.M, BLOCK_ROWS)),
                dim3(BLOCK_COLS, BLOCK_ROWS), 0, stream, static_cast<const T*>(g.A),
                static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
