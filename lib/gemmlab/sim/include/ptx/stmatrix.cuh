// Stand-in for kernels/ptx/stmatrix.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_matrix.h"

__device__ __forceinline__ void stmatrix_x1(uint32_t row_addr, const uint32_t (&r)[1],
                                            int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 1, false, {r[0], 0, 0, 0}, line);
}

__device__ __forceinline__ void stmatrix_x2(uint32_t row_addr, const uint32_t (&r)[2],
                                            int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 2, false, {r[0], r[1], 0, 0}, line);
}

__device__ __forceinline__ void stmatrix_x4(uint32_t row_addr, const uint32_t (&r)[4],
                                            int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 4, false, {r[0], r[1], r[2], r[3]}, line);
}

__device__ __forceinline__ void stmatrix_x1_trans(uint32_t row_addr, const uint32_t (&r)[1],
                                                  int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 1, true, {r[0], 0, 0, 0}, line);
}

__device__ __forceinline__ void stmatrix_x2_trans(uint32_t row_addr, const uint32_t (&r)[2],
                                                  int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 2, true, {r[0], r[1], 0, 0}, line);
}

__device__ __forceinline__ void stmatrix_x4_trans(uint32_t row_addr, const uint32_t (&r)[4],
                                                  int line = __builtin_LINE()) {
  sim_stmatrix(row_addr, 4, true, {r[0], r[1], r[2], r[3]}, line);
}
