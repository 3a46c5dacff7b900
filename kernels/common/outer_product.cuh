// acc += rA x rB for a thread's tile: row by row, forth and back, so that from one FMA to the next
// one factor stays, which spares the register file a read.
#pragma once
#include <cuda_runtime.h>

template <int TM, int TN>
__device__ __forceinline__ void outer_product(float (&acc)[TM][TN], const float (&rA)[TM],
                                              const float (&rB)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int step = 0; step < TN; ++step) {
      const int j = i % 2 ? TN - 1 - step : step;
      acc[i][j] += rA[i] * rB[j];
    }
}
