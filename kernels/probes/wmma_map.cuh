// wmma_map: which element of a matrix each x[i] of a wmma fragment is. CUDA does not document it.
//
// Idea: element n of the memory holds n. load_matrix_sync takes the matrix into a fragment, and
//   every lane writes out what it has got: lane * 16 + i of the output is its x[i]. Loading moves
//   bits and rounds nothing, so n is the bit pattern, whatever number that is in T. The caller
//   fills the output with ones before, so that the x[i] that a fragment does not have show.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

#include "../common/launch/host.cuh"

namespace wmma_map {

using namespace nvcuda::wmma;

constexpr int ELEMENTS = 16;  // a lane has at most so many of an operand of 16-bit elements

// [map]
// layout: for an accumulator only, whose type does not say how the matrix lies in memory.
template <class Fragment, class T, class... Layout>
__global__ void kernel(const T* in, T* out, int ld, Layout... layout) {
  Fragment f;
  load_matrix_sync(f, in, ld, layout...);
  for (int i = 0; i < f.num_elements; ++i) out[threadIdx.x * ELEMENTS + i] = f.x[i];
}
// [/map]

template <class Fragment, class T, class... Layout>
cudaError_t run(const GemmArgs& g, cudaStream_t stream, int ld, Layout... layout) {
  return launch(kernel<Fragment, T, Layout...>, 1, 32, 0, stream, static_cast<const T*>(g.A),
                static_cast<T*>(g.C), ld, layout...);
}

// A is (M, 16), B is (16, N), C is (M, N), all dense.
template <class T, int M, int N>
cudaError_t of_shape(const GemmArgs& g, cudaStream_t stream) {
  if constexpr (!std::is_same_v<T, float>) {
    if (g.config == 0) return run<fragment<matrix_a, M, N, 16, T, row_major>, T>(g, stream, 16);
    if (g.config == 1) return run<fragment<matrix_a, M, N, 16, T, col_major>, T>(g, stream, M);
    if (g.config == 2) return run<fragment<matrix_b, M, N, 16, T, row_major>, T>(g, stream, N);
    if (g.config == 3) return run<fragment<matrix_b, M, N, 16, T, col_major>, T>(g, stream, 16);
  }
  if constexpr (!std::is_same_v<T, __nv_bfloat16>) {
    using Sum = fragment<accumulator, M, N, 16, T>;
    if (g.config == 4) return run<Sum, T>(g, stream, N, mem_row_major);
    if (g.config == 5) return run<Sum, T>(g, stream, M, mem_col_major);
  }
  return cudaErrorInvalidValue;
}

}  // namespace wmma_map

// T: __half, __nv_bfloat16 (operands only) or float (accumulators only). A: the memory, C: 32 * 16
// elements. M and N: 16 and 16, 32 and 8, or 8 and 32. config: which fragment, see of_shape.
template <class T>
cudaError_t launch_wmma_map(const GemmArgs& g, cudaStream_t stream) {
  if (g.M == 16 && g.N == 16) return wmma_map::of_shape<T, 16, 16>(g, stream);
  if (g.M == 32 && g.N == 8) return wmma_map::of_shape<T, 32, 8>(g, stream);
  if (g.M == 8 && g.N == 32) return wmma_map::of_shape<T, 8, 32>(g, stream);
  return cudaErrorInvalidValue;
}
