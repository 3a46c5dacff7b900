// Stand-in for kernels/ptx/barrier.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_async.h"

__device__ __forceinline__ void bar_sync(uint32_t id, uint32_t threads,
                                         int line = __builtin_LINE()) {
  sim_bar_sync(id, threads, line);
}

__device__ __forceinline__ void bar_arrive(uint32_t id, uint32_t threads,
                                           int line = __builtin_LINE()) {
  sim_bar_arrive(id, threads, line);
}
