// Addresses in the shared window: 32 bits, as instructions that name .shared take them.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// cvta.to.shared: offset of a generic pointer in the block's shared memory.
// PTX ISA, "Data Movement and Conversion Instructions: cvta".
__device__ __forceinline__ uint32_t smem_addr(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
