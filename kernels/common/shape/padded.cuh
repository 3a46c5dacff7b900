// Copies of matrices that copies of 16 bytes, or the copy engine, can read.
#pragma once
#include <ptx/grid.cuh>

#include "../elements/epilogue.cuh"
#include "../elements/half.cuh"
#include "../launch/host.cuh"

constexpr int PAD_THREADS = 256;

// ---- fp32: rows and columns of zeros added, and the way back for C ----
// A block writes a part of one row; rows go along x, where a grid may be longest.

// to is (.., to_columns) and takes from, (rows, columns), into its corner; zeros elsewhere.
template <class T>
__global__ void __launch_bounds__(PAD_THREADS)
    pad(const T* from, T* to, int rows, int columns, int to_columns) {
  const int row = blockIdx.x, column = blockIdx.y * PAD_THREADS + threadIdx.x;
  if (column < to_columns)
    to[(size_t)row * to_columns + column] =
        row < rows && column < columns ? from[(size_t)row * columns + column] : T(0.0f);
}

// C = alpha * the corner of from + beta * C.
template <class T>
__global__ void __launch_bounds__(PAD_THREADS)
    unpad(const T* from, T* C, int columns, int from_columns, float alpha, float beta) {
  const int row = blockIdx.x, column = blockIdx.y * PAD_THREADS + threadIdx.x;
  if (column < columns)
    write_c(&C[(size_t)row * columns + column], from[(size_t)row * from_columns + column], alpha,
            beta);
}

template <class T>
cudaError_t launch_pad(const void* from, T* to, int rows, int columns, int to_rows, int to_columns,
                       cudaStream_t stream) {
  if (to_rows == 0 || to_columns == 0) return cudaSuccess;
  return launch(pad<T>, dim3(to_rows, ceil_div(to_columns, PAD_THREADS)), dim3(PAD_THREADS), 0,
                stream, from, to, rows, columns, to_columns);
}

template <class T>
cudaError_t launch_unpad(const void* from, const GemmArgs& g, int from_columns,
                         cudaStream_t stream) {
  return launch(unpad<T>, dim3(g.M, ceil_div(g.N, PAD_THREADS)), dim3(PAD_THREADS), 0, stream, from,
                static_cast<T*>(g.C), g.N, from_columns, g.alpha, g.beta);
}

// ---- 16 bits: rows begin at multiples of 128 bytes, where a copy of a line takes the fewest
// wavefronts, and end, with zeros, at a multiple of 16 bytes ----

// [half]
// A matrix and the place of its copy, with rows of ld elements; pairs: of elements that are
// written, 0 for a matrix that stays where it is.
template <class T>
struct Padding {
  const T* from = nullptr;
  T* to = nullptr;
  int columns = 0, ld = 0;
  size_t pairs = 0;

  __host__ __device__ static int row_pairs(int columns) { return ceil_div(columns, 8) * 4; }
};

// Two neighbours a thread, of two matrices one behind the other: a warp reads 128 bytes of a row.
template <class T>
__global__ void __launch_bounds__(PAD_THREADS) pad_rows(Padding<T> a, Padding<T> b) {
  grid_launch_dependents();  // the product, which waits for this grid
  size_t i = (size_t)blockIdx.x * PAD_THREADS + threadIdx.x;
  const Padding<T> p = i < a.pairs ? a : b;
  if (i >= a.pairs) i -= a.pairs;
  if (i >= p.pairs) return;
  const size_t row_pairs = p.row_pairs(p.columns), row = i / row_pairs;
  const int column = (i - row * row_pairs) * 2;
  const T* from = p.from + row * p.columns + column;
  store2(p.to + row * p.ld + column,
         make_float2(column < p.columns ? to_float(from[0]) : 0.0f,
                     column + 1 < p.columns ? to_float(from[1]) : 0.0f));
}

// A product whose A and B have rows at multiples of 16 bytes: they themselves, or copies.
template <class T>
struct PaddedInputs {
  GemmArgs g;    // with the copies; its workspace is what they leave of the given one
  int lda, ldb;  // elements from row to row
  size_t bytes;  // of the workspace, for the copies
  Padding<T> a, b;

  explicit PaddedInputs(const GemmArgs& given) : g(given), bytes(0) {
    const bool turned_a = g.layout & TURNED_A, turned_b = g.layout & TURNED_B;
    lda = turned_a ? g.M : g.K, ldb = turned_b ? g.K : g.N;
    if (lda % 8 != 0 || !aligned(g.A)) a = take(g.A, turned_a ? g.K : g.M, lda, lda);
    if (ldb % 8 != 0 || !aligned(g.B)) b = take(g.B, turned_b ? g.N : g.K, ldb, ldb);
  }
  static bool aligned(const void* p) { return reinterpret_cast<size_t>(p) % 16 == 0; }
  bool copied() const { return a.pairs + b.pairs > 0; }

  Padding<T> take(const void*& matrix, int rows, int columns, int& ld) {
    ld = ceil_div(columns, 64) * 64;
    const Padding<T> p = {static_cast<const T*>(matrix), static_cast<T*>(g.workspace), columns, ld,
                          (size_t)rows * Padding<T>::row_pairs(columns)};
    const size_t size = ((size_t)rows * ld * sizeof(T) + 255) / 256 * 256;
    matrix = g.workspace;
    g.workspace = static_cast<char*>(g.workspace) + size;
    bytes += size;
    return p;
  }
  cudaError_t copy(cudaStream_t stream) const {
    const unsigned blocks = (a.pairs + b.pairs + PAD_THREADS - 1) / PAD_THREADS;
    return blocks ? launch(pad_rows<T>, dim3(blocks), dim3(PAD_THREADS), 0, stream, a, b)
                  : cudaSuccess;
  }
};
// [/half]
