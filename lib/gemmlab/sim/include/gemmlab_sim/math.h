// CUDA's global functions that C++ lacks or hides in std.
#pragma once
#include <cmath>

#define GEMMLAB_MIN_MAX(T)                                            \
  __forceinline__ constexpr T min(T a, T b) { return b < a ? b : a; } \
  __forceinline__ constexpr T max(T a, T b) { return a < b ? b : a; }
GEMMLAB_MIN_MAX(int)
GEMMLAB_MIN_MAX(unsigned)
GEMMLAB_MIN_MAX(long)
GEMMLAB_MIN_MAX(unsigned long)
GEMMLAB_MIN_MAX(long long)
GEMMLAB_MIN_MAX(unsigned long long)
GEMMLAB_MIN_MAX(float)
GEMMLAB_MIN_MAX(double)
#undef GEMMLAB_MIN_MAX
// A mixed pair is compared as unsigned, as CUDA does.
__forceinline__ constexpr unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
__forceinline__ constexpr unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
__forceinline__ constexpr unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
__forceinline__ constexpr unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }

__forceinline__ float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
__forceinline__ float __fadd_rn(float a, float b) { return a + b; }
__forceinline__ float __fmul_rn(float a, float b) { return a * b; }
__forceinline__ float rsqrtf(float a) { return 1.0f / std::sqrt(a); }
__forceinline__ int __popc(unsigned a) { return __builtin_popcount(a); }
__forceinline__ int __ffs(int a) { return __builtin_ffs(a); }
__forceinline__ int __clz(int a) { return a ? __builtin_clz(a) : 32; }

// The read-only path returns what an ordinary load returns, and is counted as one.
template <class T>
__forceinline__ T __ldg(const T* address) {
  return *address;
}
