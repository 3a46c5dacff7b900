// Four neighbouring floats as one 16-byte access. The address must be a multiple of 16 bytes.
#pragma once
#include <cuda_runtime.h>

__device__ __forceinline__ float4 load4(const float* p) {
  return *reinterpret_cast<const float4*>(p);
}

__device__ __forceinline__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

// Spreads a vector over a register array.
__device__ __forceinline__ void unpack4(float* r, float4 v) {
  r[0] = v.x;
  r[1] = v.y;
  r[2] = v.z;
  r[3] = v.w;
}
