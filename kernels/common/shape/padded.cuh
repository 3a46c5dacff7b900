// Copies of matrices with rows and columns of zeros added, and the way back for C.
#pragma once
#include "../elements/epilogue.cuh"
#include "../launch/host.cuh"

constexpr int PAD_THREADS = 256;  // of one row; rows go along x, where a grid may be longest

// to is (.., to_columns) and takes from, (rows, columns), into its corner; zeros elsewhere.
static __global__ void __launch_bounds__(PAD_THREADS)
    pad(const float* from, float* to, int rows, int columns, int to_columns) {
  const int row = blockIdx.x, column = blockIdx.y * PAD_THREADS + threadIdx.x;
  if (column < to_columns)
    to[(size_t)row * to_columns + column] =
        row < rows && column < columns ? from[(size_t)row * columns + column] : 0.0f;
}

// C = alpha * the corner of from + beta * C.
static __global__ void __launch_bounds__(PAD_THREADS)
    unpad(const float* from, float* C, int columns, int from_columns, float alpha, float beta) {
  const int row = blockIdx.x, column = blockIdx.y * PAD_THREADS + threadIdx.x;
  if (column < columns)
    write_c(&C[(size_t)row * columns + column], from[(size_t)row * from_columns + column], alpha,
            beta);
}

inline cudaError_t launch_pad(const void* from, float* to, int rows, int columns, int to_rows,
                              int to_columns, cudaStream_t stream) {
  if (to_rows == 0 || to_columns == 0) return cudaSuccess;
  return launch(pad, dim3(to_rows, ceil_div(to_columns, PAD_THREADS)), dim3(PAD_THREADS), 0, stream,
                from, to, rows, columns, to_columns);
}

inline cudaError_t launch_unpad(const void* from, const GemmArgs& g, int from_columns,
                                cudaStream_t stream) {
  return launch(unpad, dim3(g.M, ceil_div(g.N, PAD_THREADS)), dim3(PAD_THREADS), 0, stream, from,
                static_cast<float*>(g.C), g.N, from_columns, g.alpha, g.beta);
}
