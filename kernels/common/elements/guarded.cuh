// Writing four neighbours of which some may lie behind the end of their row. VECTOR: the row's
// address and length are multiples of four floats, so it is all four or none.
#pragma once
#include "epilogue.cuh"

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
