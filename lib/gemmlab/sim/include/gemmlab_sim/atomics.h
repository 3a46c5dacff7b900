// Atomic operations on global and shared memory.
#pragma once
#include <cstring>
#include <type_traits>

#include "abi_matrix.h"
#include "vector_types.h"

namespace gemmlab_sim {

// What lies at the address is exchanged for the operation's result, which no other thread can see
// in between; returns what was there.
template <class T>
__forceinline__ T atomic(SimAtomic operation, SimAtomicType type, T* address, T value,
                         T compare = T()) {
  uint64_t value_bits = 0, compare_bits = 0;
  std::memcpy(&value_bits, &value, sizeof(T));
  std::memcpy(&compare_bits, &compare, sizeof(T));
  const uint64_t before = sim_atomic(operation, type, address, value_bits, compare_bits);
  std::memcpy(&value, &before, sizeof(T));
  return value;
}

}  // namespace gemmlab_sim

#define GEMMLAB_ATOMIC(name, operation, T, type)                    \
  __forceinline__ T name(T* address, T value) {                     \
    return gemmlab_sim::atomic<T>(operation, type, address, value); \
  }
#define GEMMLAB_ATOMIC_INTEGERS(name, operation)            \
  GEMMLAB_ATOMIC(name, operation, int, SIM_ATOMIC_I32)      \
  GEMMLAB_ATOMIC(name, operation, unsigned, SIM_ATOMIC_U32) \
  GEMMLAB_ATOMIC(name, operation, unsigned long long, SIM_ATOMIC_U64)

GEMMLAB_ATOMIC_INTEGERS(atomicAdd, SIM_ATOMIC_ADD)
GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, float, SIM_ATOMIC_F32)
GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, double, SIM_ATOMIC_F64)
GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, float2, SIM_ATOMIC_F32X2)
GEMMLAB_ATOMIC_INTEGERS(atomicMin, SIM_ATOMIC_MIN)
GEMMLAB_ATOMIC(atomicMin, SIM_ATOMIC_MIN, long long, SIM_ATOMIC_I64)
GEMMLAB_ATOMIC_INTEGERS(atomicMax, SIM_ATOMIC_MAX)
GEMMLAB_ATOMIC(atomicMax, SIM_ATOMIC_MAX, long long, SIM_ATOMIC_I64)
GEMMLAB_ATOMIC_INTEGERS(atomicAnd, SIM_ATOMIC_AND)
GEMMLAB_ATOMIC_INTEGERS(atomicOr, SIM_ATOMIC_OR)
GEMMLAB_ATOMIC_INTEGERS(atomicXor, SIM_ATOMIC_XOR)
GEMMLAB_ATOMIC_INTEGERS(atomicExch, SIM_ATOMIC_EXCHANGE)
GEMMLAB_ATOMIC(atomicExch, SIM_ATOMIC_EXCHANGE, float, SIM_ATOMIC_F32)

// What program/edits.py makes of an atomicExch whose result is dropped.
template <class T>
__forceinline__ void gemmlab_replace(T* address, decltype(atomicExch((T*)nullptr, T())) value) {
  constexpr SimAtomicType type = std::is_same<T, int>::value        ? SIM_ATOMIC_I32
                                 : std::is_same<T, unsigned>::value ? SIM_ATOMIC_U32
                                 : std::is_same<T, float>::value    ? SIM_ATOMIC_F32
                                                                    : SIM_ATOMIC_U64;
  gemmlab_sim::atomic<T>(SIM_ATOMIC_REPLACE, type, address, value);
}

__forceinline__ int atomicSub(int* address, int value) { return atomicAdd(address, -value); }
__forceinline__ unsigned atomicSub(unsigned* address, unsigned value) {
  return atomicAdd(address, 0u - value);
}

#define GEMMLAB_ATOMIC_CAS(T, type)                                                   \
  __forceinline__ T atomicCAS(T* address, T compare, T value) {                       \
    return gemmlab_sim::atomic<T>(SIM_ATOMIC_COMPARE, type, address, value, compare); \
  }
GEMMLAB_ATOMIC_CAS(int, SIM_ATOMIC_I32)
GEMMLAB_ATOMIC_CAS(unsigned, SIM_ATOMIC_U32)
GEMMLAB_ATOMIC_CAS(unsigned long long, SIM_ATOMIC_U64)
GEMMLAB_ATOMIC_CAS(unsigned short, SIM_ATOMIC_U16)

#undef GEMMLAB_ATOMIC_INTEGERS
#undef GEMMLAB_ATOMIC_CAS
