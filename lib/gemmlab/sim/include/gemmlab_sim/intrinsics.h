// CUDA's device functions on numbers and bits that C++ lacks. The fast ones (__expf, ...) are as
// exact here as the exact ones.
#pragma once
#include <cmath>

#include "atomics.h"
#include "half_bits.h"
#include "math.h"
#include "warp.h"

#define GEMMLAB_FAST(name, T, value) \
  __forceinline__ T name(T a) { return value; }
GEMMLAB_FAST(__expf, float, std::exp(a))
GEMMLAB_FAST(__exp10f, float, std::pow(10.0f, a))
GEMMLAB_FAST(__logf, float, std::log(a))
GEMMLAB_FAST(__log2f, float, std::log2(a))
GEMMLAB_FAST(__log10f, float, std::log10(a))
GEMMLAB_FAST(__sinf, float, std::sin(a))
GEMMLAB_FAST(__cosf, float, std::cos(a))
GEMMLAB_FAST(__tanf, float, std::tan(a))
GEMMLAB_FAST(__saturatef, float, a > 0 ? (a < 1 ? a : 1.0f) : 0.0f)
GEMMLAB_FAST(__frcp_rn, float, 1.0f / a)
GEMMLAB_FAST(__fsqrt_rn, float, std::sqrt(a))
GEMMLAB_FAST(__frsqrt_rn, float, 1.0f / std::sqrt(a))
GEMMLAB_FAST(__drcp_rn, double, 1.0 / a)
GEMMLAB_FAST(__dsqrt_rn, double, std::sqrt(a))
GEMMLAB_FAST(rsqrt, double, 1.0 / std::sqrt(a))
GEMMLAB_FAST(rsqrt, float, 1.0f / std::sqrt(a))
GEMMLAB_FAST(normcdff, float, 0.5f * std::erfc(-a * 0.70710678f))
GEMMLAB_FAST(exp10f, float, std::pow(10.0f, a))
#undef GEMMLAB_FAST

#define GEMMLAB_PAIR(name, T, value) \
  __forceinline__ T name(T a, T b) { return value; }
GEMMLAB_PAIR(__powf, float, std::pow(a, b))
GEMMLAB_PAIR(__fdividef, float, a / b)
GEMMLAB_PAIR(fdividef, float, a / b)
GEMMLAB_PAIR(__fdiv_rn, float, a / b)
GEMMLAB_PAIR(__fsub_rn, float, a - b)
GEMMLAB_PAIR(__dadd_rn, double, a + b)
GEMMLAB_PAIR(__dsub_rn, double, a - b)
GEMMLAB_PAIR(__dmul_rn, double, a* b)
GEMMLAB_PAIR(__ddiv_rn, double, a / b)
GEMMLAB_PAIR(__mul24, int, (a << 8 >> 8) * (b << 8 >> 8))
GEMMLAB_PAIR(__umul24, unsigned, (a & 0xffffff) * (b & 0xffffff))
GEMMLAB_PAIR(__mulhi, int, int(int64_t(a) * b >> 32))
GEMMLAB_PAIR(__umulhi, unsigned, unsigned(uint64_t(a) * b >> 32))
GEMMLAB_PAIR(umin, unsigned, a < b ? a : b)
GEMMLAB_PAIR(umax, unsigned, a < b ? b : a)
#undef GEMMLAB_PAIR
__forceinline__ double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
__forceinline__ void __sincosf(float a, float* sine, float* cosine) {
  *sine = std::sin(a);
  *cosine = std::cos(a);
}

// Bits of one type as another.
#define GEMMLAB_BITS(name, To, From) \
  __forceinline__ To name(From a) { return gemmlab_sim::bits_as<To>(a); }
GEMMLAB_BITS(__float_as_int, int, float)
GEMMLAB_BITS(__int_as_float, float, int)
GEMMLAB_BITS(__float_as_uint, unsigned, float)
GEMMLAB_BITS(__uint_as_float, float, unsigned)
GEMMLAB_BITS(__double_as_longlong, long long, double)
GEMMLAB_BITS(__longlong_as_double, double, long long)
#undef GEMMLAB_BITS

// Conversions by rounding: rn to nearest, rz to zero, rd down, ru up.
#define GEMMLAB_ROUNDED(From, To, from, to)                                                      \
  __forceinline__ To __##from##2##to##_rn(From a) { return static_cast<To>(std::nearbyint(a)); } \
  __forceinline__ To __##from##2##to##_rz(From a) { return static_cast<To>(std::trunc(a)); }     \
  __forceinline__ To __##from##2##to##_rd(From a) { return static_cast<To>(std::floor(a)); }     \
  __forceinline__ To __##from##2##to##_ru(From a) { return static_cast<To>(std::ceil(a)); }
GEMMLAB_ROUNDED(float, int, float, int)
GEMMLAB_ROUNDED(float, unsigned, float, uint)
GEMMLAB_ROUNDED(float, long long, float, ll)
GEMMLAB_ROUNDED(double, int, double, int)
GEMMLAB_ROUNDED(double, unsigned, double, uint)
GEMMLAB_ROUNDED(double, long long, double, ll)
#undef GEMMLAB_ROUNDED
__forceinline__ float __int2float_rn(int a) { return float(a); }
__forceinline__ float __uint2float_rn(unsigned a) { return float(a); }
__forceinline__ double __int2double_rn(int a) { return a; }
__forceinline__ float __double2float_rn(double a) { return float(a); }

__forceinline__ int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
__forceinline__ int __clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
__forceinline__ int __ffsll(long long a) { return __builtin_ffsll(a); }
__forceinline__ unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (a >> i & 1u) << (31 - i);
  return reversed;
}
__forceinline__ unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  unsigned chosen = 0;
  for (int i = 0; i < 4; ++i)
    chosen |= unsigned(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  return chosen;
}
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
__forceinline__ int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += int(int8_t(a >> i)) * int(int8_t(b >> i));
  return c;
}
__forceinline__ unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}

// Where an access is to be cached is a hint, which changes nothing here.
#define GEMMLAB_LOAD(name)                   \
  template <class T>                         \
  __forceinline__ T name(const T* address) { \
    return *address;                         \
  }
#define GEMMLAB_STORE(name)                        \
  template <class T, class V>                      \
  __forceinline__ void name(T* address, V value) { \
    *address = T(value);                           \
  }
GEMMLAB_LOAD(__ldca)
GEMMLAB_LOAD(__ldcg)
GEMMLAB_LOAD(__ldcs)
GEMMLAB_LOAD(__ldlu)
GEMMLAB_LOAD(__ldcv)
GEMMLAB_STORE(__stcg)
GEMMLAB_STORE(__stcs)
GEMMLAB_STORE(__stwb)
GEMMLAB_STORE(__stwt)
#undef GEMMLAB_LOAD
#undef GEMMLAB_STORE

__forceinline__ void __threadfence_block() { __threadfence(); }
__forceinline__ void __threadfence_system() { __threadfence(); }
__forceinline__ int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return sim_syncthreads_count(predicate, line);
}
__forceinline__ int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return sim_syncthreads_count(predicate, line) != 0;
}
__forceinline__ int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return sim_syncthreads_count(!predicate, line) == 0;
}

// Of this machine, in nanoseconds: it only grows.
__forceinline__ long long clock64() { return sim_clock(); }
__forceinline__ void __nanosleep(unsigned) {}

__forceinline__ size_t __cvta_generic_to_shared(const void* pointer) {
  return sim_shared_address(pointer);
}
__forceinline__ void* __cvta_shared_to_generic(size_t address) {
  return sim_shared_pointer(uint32_t(address));
}
__forceinline__ size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<size_t>(pointer);
}
__forceinline__ bool __isShared(const void* pointer) {
  return sim_shared_address(pointer) != SIM_NO_SHARED_ADDRESS;
}

// Which lanes have the same value as this one; or all of them, else none.
template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  unsigned same = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      same |= unsigned(__shfl_sync(mask, value, lane, 32, line) == value) << lane;
  return same;
}
template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all,
                                          int line = __builtin_LINE()) {
  *all = __all_sync(mask, __match_any_sync(mask, value, line) == mask, line);
  return *all ? mask : 0;
}

namespace gemmlab_sim {
// A type that is not deduced from the argument, which is converted.
template <class T>
struct Same {
  using type = T;
};
template <class T>
using same_t = typename Same<T>::type;
}  // namespace gemmlab_sim

// Read, computed and written in turns until nobody came between.
#define GEMMLAB_WRAPPING(name, next)                                           \
  __forceinline__ unsigned name(unsigned* address, unsigned limit) {           \
    unsigned before = atomicAdd(address, 0u), seen;                            \
    while ((seen = atomicCAS(address, before, next)) != before) before = seen; \
    return before;                                                             \
  }
GEMMLAB_WRAPPING(atomicInc, before >= limit ? 0 : before + 1)
GEMMLAB_WRAPPING(atomicDec, before == 0 || before > limit ? limit : before - 1)
#undef GEMMLAB_WRAPPING
#define GEMMLAB_SCOPES(name)                                                  \
  template <class T>                                                          \
  __forceinline__ T name##_block(T* address, gemmlab_sim::same_t<T> value) {  \
    return name(address, value);                                              \
  }                                                                           \
  template <class T>                                                          \
  __forceinline__ T name##_system(T* address, gemmlab_sim::same_t<T> value) { \
    return name(address, value);                                              \
  }
GEMMLAB_SCOPES(atomicAdd)
GEMMLAB_SCOPES(atomicSub)
GEMMLAB_SCOPES(atomicMin)
GEMMLAB_SCOPES(atomicMax)
GEMMLAB_SCOPES(atomicExch)
GEMMLAB_SCOPES(atomicInc)
GEMMLAB_SCOPES(atomicDec)
GEMMLAB_SCOPES(atomicAnd)
GEMMLAB_SCOPES(atomicOr)
GEMMLAB_SCOPES(atomicXor)
#undef GEMMLAB_SCOPES
template <class T>
__forceinline__ T atomicCAS_block(T* address, gemmlab_sim::same_t<T> compare,
                                  gemmlab_sim::same_t<T> value) {
  return atomicCAS(address, compare, value);
}
template <class T>
__forceinline__ T atomicCAS_system(T* address, gemmlab_sim::same_t<T> compare,
                                   gemmlab_sim::same_t<T> value) {
  return atomicCAS(address, compare, value);
}
