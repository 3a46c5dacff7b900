// atomicAdd on global and shared memory.
#pragma once
#include "abi.h"

__forceinline__ float atomicAdd(float* address, float value) {
  return sim_atomic_add_f32(address, value);
}
__forceinline__ unsigned atomicAdd(unsigned* address, unsigned value) {
  return sim_atomic_add_u32(address, value);
}
__forceinline__ int atomicAdd(int* address, int value) {
  return static_cast<int>(sim_atomic_add_u32(reinterpret_cast<uint32_t*>(address), value));
}
__forceinline__ unsigned long long atomicAdd(unsigned long long* address,
                                             unsigned long long value) {
  return sim_atomic_add_u64(reinterpret_cast<uint64_t*>(address), value);
}
