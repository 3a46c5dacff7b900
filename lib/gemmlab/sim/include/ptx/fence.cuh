// Stand-in for kernels/ptx/fence.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_async.h"

__device__ __forceinline__ void fence_mbarrier_init() { sim_fence_mbarrier_init(); }

__device__ __forceinline__ void fence_proxy_async() { sim_fence_proxy_async(); }
