// Elements of 16 bits, __half or __nv_bfloat16: to float and back, and the writing of C from fp32
// sums, C in the type of the inputs or in fp32.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

template <class T>
inline constexpr bool is_half = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

// To the nearest number, halves to even. Beyond 65504 a __half is infinite.
template <class T>
__device__ __forceinline__ T from_float(float x) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(x);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(x);
  } else {
    return x;
  }
}

// Two neighbours as one access: 4 bytes of 16-bit elements, 8 bytes of floats.
template <class T>
__device__ __forceinline__ float2 load2(const T* p) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half22float2(*reinterpret_cast<const __half2*>(p));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(p));
  } else {
    return *reinterpret_cast<const float2*>(p);
  }
}

template <class T>
__device__ __forceinline__ void store2(T* p, float2 v) {
  if constexpr (std::is_same_v<T, __half>) {
    *reinterpret_cast<__half2*>(p) = __floats2half2_rn(v.x, v.y);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    *reinterpret_cast<__nv_bfloat162*>(p) = __floats2bfloat162_rn(v.x, v.y);
  } else {
    *reinterpret_cast<float2*>(p) = v;
  }
}

// beta == 0 must not read C: 0 * NaN is NaN.
template <class T>
__device__ __forceinline__ void write_c(T* C, float acc, float alpha, float beta) {
  *C = from_float<T>(beta == 0.0f ? alpha * acc : alpha * acc + beta * to_float(*C));
}

// Two neighbours. The address must be a multiple of two elements.
template <class T>
__device__ __forceinline__ void write_c2(T* C, float2 acc, float alpha, float beta) {
  float2 v = make_float2(alpha * acc.x, alpha * acc.y);
  if (beta != 0.0f) {
    const float2 old = load2(C);
    v.x += beta * old.x;
    v.y += beta * old.y;
  }
  store2(C, v);
}
