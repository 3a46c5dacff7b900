// Stand-in for kernels/ptx/cache_policy.cuh. The simulator has no L2: a policy is a number that
// nothing reads.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

__device__ __forceinline__ uint64_t l2_evict_first() { return 0; }

__device__ __forceinline__ uint64_t l2_evict_last() { return 0; }
