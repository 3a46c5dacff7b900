// The GPU's timer, which all SMs share.
#pragma once

// Nanoseconds. It advances in steps of 32 ns to 1 us, depending on the GPU.
__device__ __forceinline__ unsigned long long globaltimer_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
