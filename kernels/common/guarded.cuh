// Loads and stores of four neighbours of which some may lie behind the end of their row. VECTOR:
// the row's address and length are multiples of four floats, so it is all four or none.
#pragma once
#include "epilogue.cuh"
#include "vec.cuh"

// p[0..3], zeros from p[left] on.
template <bool VECTOR>
__device__ __forceinline__ float4 load4_guarded(const float* p, int left) {
  if (VECTOR) return left > 0 ? load4(p) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f,
                     left > 3 ? p[3] : 0.0f);
}

// alpha * acc + beta * C for the first `left` of four neighbours.
template <bool VECTOR>
__device__ __forceinline__ void write_c4_guarded(float* C, const float* acc, int left, float alpha,
                                                 float beta) {
  if constexpr (VECTOR) {
    if (left > 0) write_c4(C, acc, alpha, beta);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (j < left) write_c(C + j, acc[j], alpha, beta);
  }
}
