// A value that stays in its register.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// Returns `value`. The compiler cannot see how it came about behind this call, so it keeps the
// register instead of computing the value again. No instruction.
__device__ __forceinline__ uint32_t in_register(uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
