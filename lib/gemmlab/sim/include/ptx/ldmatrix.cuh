// Stand-in for kernels/ptx/ldmatrix.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_matrix.h"

namespace gemmlab_sim {

template <int Matrices>
__forceinline__ void load_matrices(uint32_t (&r)[Matrices], uint32_t row_addr, bool transposed,
                                   int line) {
  const SimRegs4 loaded = sim_ldmatrix(row_addr, Matrices, transposed, line);
  r[0] = loaded.r0;
  if constexpr (Matrices >= 2) r[1] = loaded.r1;
  if constexpr (Matrices == 4) r[2] = loaded.r2, r[3] = loaded.r3;
}

}  // namespace gemmlab_sim

__device__ __forceinline__ void ldmatrix_x1(uint32_t (&r)[1], uint32_t row_addr,
                                            int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, false, line);
}

__device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], uint32_t row_addr,
                                            int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, false, line);
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t row_addr,
                                            int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, false, line);
}

__device__ __forceinline__ void ldmatrix_x1_trans(uint32_t (&r)[1], uint32_t row_addr,
                                                  int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, true, line);
}

__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], uint32_t row_addr,
                                                  int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, true, line);
}

__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t row_addr,
                                                  int line = __builtin_LINE()) {
  gemmlab_sim::load_matrices(r, row_addr, true, line);
}
