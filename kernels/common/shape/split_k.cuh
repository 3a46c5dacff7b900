// The second half of a product cut along k: adds up the slices' fp32 sums, always in the same
// order, and writes C. The kernel that leaves the sums calls grid_launch_dependents(), so that this
// one is already there.
#pragma once
#include "../elements/half.cuh"
#include "../launch/dependent_launch.cuh"
#include "../launch/host.cuh"

constexpr int REDUCE_THREADS = 128;

// C = alpha * (sums[0] + sums[1] + ...) + beta * C; a slice holds `elements` values, as C does.
// Rows of a slice are `row_length` long, of which the first `columns` count. SHARE threads have an
// element, each of them every SHARE-th slice.
template <class TC, int SHARE>
__global__ void __launch_bounds__(REDUCE_THREADS)
    add_slices(const float* sums, TC* C, size_t elements, int slices, int columns, int row_length,
               float alpha, float beta) {
  constexpr int WIDTH = REDUCE_THREADS / SHARE;  // elements of a block
  __shared__ float shares[SHARE][WIDTH];
  grid_dependency_wait();  // the slices are complete
  const int share = threadIdx.x / WIDTH, element = threadIdx.x % WIDTH;
  const size_t i = (size_t)blockIdx.x * WIDTH + element;
  float acc = 0.0f;
  if (i < elements) {
#pragma unroll 8
    for (int slice = share; slice < slices; slice += SHARE) acc += sums[slice * elements + i];
  }
  if constexpr (SHARE > 1) {
    shares[share][element] = acc;
    __syncthreads();
    acc = 0.0f;
#pragma unroll
    for (int other = 0; other < SHARE; ++other) acc += shares[other][element];
  }
  if (share > 0 || i >= elements) return;
  const size_t row = columns == row_length ? 0 : i / row_length, column = i - row * row_length;
  if (row == 0 && columns == row_length)
    write_c(C + i, acc, alpha, beta);
  else if (column < columns)
    write_c(C + row * columns + column, acc, alpha, beta);
}

// Of C. Sixteen rows of 2^27 columns are 2^31, more than an int holds.
inline size_t elements_of(const GemmArgs& g) { return (size_t)g.M * g.N; }

inline size_t slices_bytes(const GemmArgs& g, int slices) {
  return slices * elements_of(g) * sizeof(float);
}

template <class TC>
cudaError_t launch_add_slices(const void* sums, const GemmArgs& g, int slices, cudaStream_t stream,
                              int row_length = 0) {
  constexpr int SHARE = 16;  // of many slices
  if (row_length == 0) row_length = g.N;
  const size_t elements = (size_t)g.M * row_length;
  const bool many = slices >= 2 * SHARE;
  const int width = REDUCE_THREADS / (many ? SHARE : 1);
  const unsigned blocks = (elements + width - 1) / width;
  return launch_dependent(many ? add_slices<TC, SHARE> : add_slices<TC, 1>, dim3(blocks),
                          dim3(REDUCE_THREADS), 0, stream, static_cast<const float*>(sums),
                          static_cast<TC*>(g.C), elements, slices, g.N, row_length, g.alpha,
                          g.beta);
}
