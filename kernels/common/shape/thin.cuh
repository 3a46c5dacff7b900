// A product with at most 16 rows, one of them elsewhere (single_row.cuh): every value of B is used
// 16 times at most, so B's bytes are the limit. A thread keeps all rows of a few columns; the grid
// cuts k into slices, and a second kernel adds them up.
#pragma once
#include "../launch/host.cuh"
#include "../launch/refuse.cuh"
#include "single_row.cuh"
#include "split_k.cuh"
#include "../elements/vec.cuh"

namespace thin {

constexpr int MAX_ROWS = 16, THREADS = 128, SLICE = 128;

// sums[slice][row][column], of the workspace. ROWS: at least M. WIDTH: columns of a thread, 4 if B
// allows float4.
template <int ROWS, int WIDTH>
__global__ void __launch_bounds__(THREADS)
    multiply(const float* A, const float* B, float* sums, int M, int N, int K) {
  __shared__ float sA[SLICE][ROWS];
  grid_launch_dependents();  // add_slices is launched meanwhile
  const int k0 = blockIdx.y * SLICE, depth = min(SLICE, K - k0);
  for (int i = threadIdx.x; i < SLICE * ROWS; i += THREADS) {
    const int k = i / ROWS, row = i % ROWS;
    sA[k][row] = row < M && k < depth ? A[(size_t)row * K + k0 + k] : 0.0f;
  }
  __syncthreads();
  const int n = (blockIdx.x * THREADS + threadIdx.x) * WIDTH;
  if (n >= N) return;
  float acc[ROWS][WIDTH] = {};
#pragma unroll 8
  for (int k = 0; k < depth; ++k) {
    const float* row = B + (size_t)(k0 + k) * N + n;
    float b[WIDTH];
    if constexpr (WIDTH == 4)
      unpack4(b, load4(row));
    else
      b[0] = *row;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) acc[i][j] += sA[k][i] * b[j];
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < WIDTH; ++j)
      if (i < M) sums[((size_t)blockIdx.y * M + i) * N + n + j] = acc[i][j];
}

inline size_t workspace(const GemmArgs& g) {
  return g.M == 1 ? single_row::workspace(g) : slices_bytes(g, ceil_div(g.K, SLICE));
}

// More rows than MAX_ROWS are refused. vector: N is a multiple of 4 and B 16-byte aligned.
inline cudaError_t run(const GemmArgs& g, bool vector, cudaStream_t stream) {
  if (g.M > MAX_ROWS)
    return refuse(cudaErrorInvalidValue,
                  "M is %d, and thin takes at most %d rows; use another config", g.M, MAX_ROWS);
  if (g.M == 1) return single_row::run(g, vector, stream);
  const int slices = ceil_div(g.K, SLICE), width = vector ? 4 : 1;
  float* sums = static_cast<float*>(g.workspace);
  const dim3 grid(ceil_div(g.N, THREADS * width), slices);
  if (slices > 0) {
    const auto kernel = g.M <= 8 ? (vector ? multiply<8, 4> : multiply<8, 1>)
                                 : (vector ? multiply<MAX_ROWS, 4> : multiply<MAX_ROWS, 1>);
    const cudaError_t done =
        launch(kernel, grid, dim3(THREADS), 0, stream, static_cast<const float*>(g.A),
               static_cast<const float*>(g.B), sums, g.M, g.N, g.K);
    if (done != cudaSuccess) return done;
  }
  return launch_add_slices<float>(sums, g, slices, stream);
}

}  // namespace thin
