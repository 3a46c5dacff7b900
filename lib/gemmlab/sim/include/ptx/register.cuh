// Stand-in for kernels/ptx/register.cuh. Time is not simulated, so nothing need be kept.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

__device__ __forceinline__ uint32_t in_register(uint32_t value) { return value; }
