// Stand-in for kernels/ptx/warp.cuh. Registers are not modelled: setmaxnreg changes nothing, and
// only who executes it is checked.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_matrix.h"

__device__ __forceinline__ bool elect_one(int line = __builtin_LINE()) {
  return sim_elect(0xffffffffu, line);
}

template <int N>
__device__ __forceinline__ void setmaxnreg_inc(int line = __builtin_LINE()) {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  sim_setmaxnreg(N, true, line);
}

template <int N>
__device__ __forceinline__ void setmaxnreg_dec(int line = __builtin_LINE()) {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  sim_setmaxnreg(N, false, line);
}
