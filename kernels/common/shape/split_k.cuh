// The second half of a product cut along k: adds up the slices' fp32 sums, always in the same
// order, and writes C. The kernel that leaves the sums calls grid_launch_dependents(), so that this
// one is already there.
#pragma once
#include "../elements/half.cuh"
#include "../launch/dependent_launch.cuh"
#include "../launch/host.cuh"

constexpr int REDUCE_THREADS = 128;

// C = alpha * (sums[0] + sums[1] + ...) + beta * C; a slice holds `elements` values, as C does.
template <class TC>
__global__ void __launch_bounds__(REDUCE_THREADS)
    add_slices(const float* sums, TC* C, size_t elements, int slices, float alpha, float beta) {
  grid_dependency_wait();  // the slices are complete
  const size_t i = (size_t)blockIdx.x * REDUCE_THREADS + threadIdx.x;
  if (i >= elements) return;
  float acc = 0.0f;
#pragma unroll 8
  for (int slice = 0; slice < slices; ++slice) acc += sums[slice * elements + i];
  write_c(C + i, acc, alpha, beta);
}

// Of C. Sixteen rows of 2^27 columns are 2^31, more than an int holds.
inline size_t elements_of(const GemmArgs& g) { return (size_t)g.M * g.N; }

inline size_t slices_bytes(const GemmArgs& g, int slices) {
  return slices * elements_of(g) * sizeof(float);
}

template <class TC>
cudaError_t launch_add_slices(const void* sums, const GemmArgs& g, int slices,
                              cudaStream_t stream) {
  const size_t elements = elements_of(g);
  const unsigned blocks = (elements + REDUCE_THREADS - 1) / REDUCE_THREADS;
  return launch_dependent(add_slices<TC>, dim3(blocks), dim3(REDUCE_THREADS), 0, stream,
                          static_cast<const float*>(sums), static_cast<TC*>(g.C), elements, slices,
                          g.alpha, g.beta);
}
