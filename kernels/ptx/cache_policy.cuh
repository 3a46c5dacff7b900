// Cache policies: what the L2 should do with the lines of a load or store that names one. A hint.
// From sm_80 on.
// PTX ISA, "Data Movement and Conversion Instructions: createpolicy".
#pragma once
#include <cstdint>

// Among the first to go: lines that are not read again.
__device__ __forceinline__ uint64_t l2_evict_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Among the last to go: lines that others will read.
__device__ __forceinline__ uint64_t l2_evict_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
