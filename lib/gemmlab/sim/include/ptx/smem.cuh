// Stand-in for kernels/ptx/smem.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_matrix.h"

__device__ __forceinline__ uint32_t smem_addr(const void* p) { return sim_shared_address(p); }
