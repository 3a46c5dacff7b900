// Where a tile in shared memory keeps an element, such that ldmatrix' rows of 16 bytes that stand
// below one another are in different banks.
#pragma once
#include <cuda_runtime.h>

// CUTLASS' Swizzle<BITS, 3, SHIFT> on an offset in elements. Groups of 8 elements stay together;
// the BITS bits that say which group are XORed with those SHIFT places higher. Bits from
// SHIFT + BITS + 3 on neither change nor matter.
template <int BITS, int SHIFT>
__device__ __forceinline__ int swizzle(int offset) {
  return offset ^ ((offset >> SHIFT & ((1 << BITS) - 1) << 3));
}
