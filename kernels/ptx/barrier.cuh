// Named barriers: 16 a block, for some of its warps each. __syncthreads() is barrier 0 with all
// threads. All lanes of a warp execute them together.
// PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// Waits until `threads` threads, whole warps, have come to barrier `id`, this one included.
__device__ __forceinline__ void bar_sync(uint32_t id, uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Comes to barrier `id` and does not wait.
__device__ __forceinline__ void bar_arrive(uint32_t id, uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
