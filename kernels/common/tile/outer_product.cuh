// acc += rA x rB for a thread's tile: column by column, down and up, so that from one FMA to the
// next one factor stays, which spares the register file a read.
#pragma once
#include <cuda_runtime.h>

template <int TM, int TN>
__device__ __forceinline__ void outer_product(float (&acc)[TM][TN], const float (&rA)[TM],
                                              const float (&rB)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j)
#pragma unroll
    for (int step = 0; step < TM; ++step) {
      const int i = j % 2 ? TM - 1 - step : step;
      acc[i][j] += rA[i] * rB[j];
    }
}
