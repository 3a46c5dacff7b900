// Eight, four or two neighbours of 16 bits as one access of 16, 8 or 4 bytes, which the address
// must be a multiple of; their values as floats; and the writing of eight or four neighbours of C.
#pragma once
#include "epilogue.cuh"
#include "half.cuh"

template <class T>
__device__ __forceinline__ uint4 load8(const T* p) {
  static_assert(is_half<T>);
  return *reinterpret_cast<const uint4*>(p);
}

template <class T>
__device__ __forceinline__ void store8(T* p, uint4 v) {
  static_assert(is_half<T>);
  *reinterpret_cast<uint4*>(p) = v;
}

template <class T>
__device__ __forceinline__ uint2 load4(const T* p) {
  static_assert(is_half<T>);
  return *reinterpret_cast<const uint2*>(p);
}

template <class T>
__device__ __forceinline__ void store4(T* p, uint2 v) {
  static_assert(is_half<T>);
  *reinterpret_cast<uint2*>(p) = v;
}

template <class T>
__device__ __forceinline__ uint32_t load_pair(const T* p) {
  static_assert(is_half<T>);
  return *reinterpret_cast<const uint32_t*>(p);
}

// A register's two elements as floats, and back. The first is in the low half. A __nv_bfloat16 is
// the upper half of a float: one instruction each, where the conversion of cuda_bf16.h takes two
// for the upper one.
template <class T>
__device__ __forceinline__ void unpack2(float* r, uint32_t pair) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    const uint32_t low = pair << 16, high = pair & 0xffff0000u;
    r[0] = reinterpret_cast<const float&>(low);
    r[1] = reinterpret_cast<const float&>(high);
  } else {
    const float2 v = load2(reinterpret_cast<const T*>(&pair));
    r[0] = v.x;
    r[1] = v.y;
  }
}

template <class T>
__device__ __forceinline__ uint32_t pack2(float x, float y) {
  uint32_t pair;
  store2(reinterpret_cast<T*>(&pair), make_float2(x, y));
  return pair;
}

template <class T>
__device__ __forceinline__ void unpack4(float* r, uint2 v) {
  unpack2<T>(r, v.x);
  unpack2<T>(r + 2, v.y);
}

template <class T>
__device__ __forceinline__ void unpack8(float* r, uint4 v) {
  unpack4<T>(r, make_uint2(v.x, v.y));
  unpack4<T>(r + 4, make_uint2(v.z, v.w));
}

// C in 16 bits; for floats there is the function of epilogue.cuh.
template <class T>
__device__ __forceinline__ void write_c4(T* C, const float* acc, float alpha, float beta) {
  float v[4] = {alpha * acc[0], alpha * acc[1], alpha * acc[2], alpha * acc[3]};
  if (beta != 0.0f) {
    float old[4];
    unpack4<T>(old, load4(C));
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] += beta * old[j];
  }
  store4(C, make_uint2(pack2<T>(v[0], v[1]), pack2<T>(v[2], v[3])));
}

template <class TC>
__device__ __forceinline__ void write_c8(TC* C, const float* acc, float alpha, float beta) {
  if constexpr (std::is_same_v<TC, float>) {
    write_c4(C, acc, alpha, beta);
    write_c4(C + 4, acc + 4, alpha, beta);
  } else {
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = alpha * acc[j];
    if (beta != 0.0f) {
      float old[8];
      unpack8<TC>(old, load8(C));
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] += beta * old[j];
    }
    store8(C, make_uint4(pack2<TC>(v[0], v[1]), pack2<TC>(v[2], v[3]), pack2<TC>(v[4], v[5]),
                         pack2<TC>(v[6], v[7])));
  }
}
