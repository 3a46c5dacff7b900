// The second half of a product cut along k: adds the slices' sums up, always in the same order.
// The kernel that leaves them calls grid_launch_dependents(), so that this one is already there.
#pragma once
#include "../launch/dependent_launch.cuh"
#include "../elements/epilogue.cuh"
#include "../launch/host.cuh"

constexpr int REDUCE_THREADS = 128;

// C = alpha * (sums[0] + sums[1] + ...) + beta * C; a slice holds `elements` values, as C does.
static __global__ void __launch_bounds__(REDUCE_THREADS)
    add_slices(const float* sums, float* C, int elements, int slices, float alpha, float beta) {
  grid_dependency_wait();  // the slices are complete
  const int i = blockIdx.x * REDUCE_THREADS + threadIdx.x;
  if (i >= elements) return;
  float acc = 0.0f;
#pragma unroll 8
  for (int slice = 0; slice < slices; ++slice) acc += sums[(size_t)slice * elements + i];
  write_c(C + i, acc, alpha, beta);
}

inline size_t slices_bytes(const GemmArgs& g, int slices) {
  return (size_t)slices * g.M * g.N * sizeof(float);
}

inline cudaError_t launch_add_slices(const GemmArgs& g, int slices, cudaStream_t stream) {
  const int elements = g.M * g.N;
  return launch_dependent(add_slices, dim3(ceil_div(elements, REDUCE_THREADS)),
                          dim3(REDUCE_THREADS), 0, stream, static_cast<const float*>(g.workspace),
                          static_cast<float*>(g.C), elements, slices, g.alpha, g.beta);
}
