// alpha * acc + beta * C for one element and for four neighbours of a row.
#pragma once
#include "vec.cuh"

// beta == 0 must not read C: 0 * NaN is NaN.
__device__ __forceinline__ void write_c(float* C, float acc, float alpha, float beta) {
  *C = beta == 0.0f ? alpha * acc : alpha * acc + beta * *C;
}

__device__ __forceinline__ void write_c4(float* C, const float* acc, float alpha, float beta) {
  float4 v = make_float4(alpha * acc[0], alpha * acc[1], alpha * acc[2], alpha * acc[3]);
  if (beta != 0.0f) {
    const float4 old = load4(C);
    v.x += beta * old.x;
    v.y += beta * old.y;
    v.z += beta * old.z;
    v.w += beta * old.w;
  }
  store4(C, v);
}
