// Stand-in for CUDA's header of this name: __half, __half2 and their conversions. Arithmetic and
// comparison are in gemmlab_sim/half.h.
#pragma once
#include <cuda_runtime.h>

#include "gemmlab_sim/half.h"

using __half = gemmlab_sim::Float16<gemmlab_sim::HalfFormat>;
using __half2 = gemmlab_sim::Vector2<__half>;
using half = __half;
using half2 = __half2;

inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline __half __uint2half_rn(unsigned a) { return a; }
inline float __half2float(__half a) { return a; }
inline int __half2int_rz(__half a) { return int(float(a)); }
inline int __half2int_rn(__half a) { return int(std::nearbyint(float(a))); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __ushort_as_half(unsigned short a) { return __half::of_bits(a); }

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }

GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, __half, SIM_ATOMIC_F16)
GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, __half2, SIM_ATOMIC_F16X2)
