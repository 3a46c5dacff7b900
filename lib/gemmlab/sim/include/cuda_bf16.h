// Stand-in for CUDA's header of this name: __nv_bfloat16, __nv_bfloat162 and their conversions.
// Arithmetic and comparison are in gemmlab_sim/half.h.
#pragma once
#include <cuda_runtime.h>

#include "gemmlab_sim/half.h"

using __nv_bfloat16 = gemmlab_sim::Float16<gemmlab_sim::BfloatFormat>;
using __nv_bfloat162 = gemmlab_sim::Vector2<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float a) { return a; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
inline __nv_bfloat16 __double2bfloat16(double a) { return a; }
inline __nv_bfloat16 __int2bfloat16_rn(int a) { return a; }
inline __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return a; }
inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline int __bfloat162int_rz(__nv_bfloat16 a) { return int(float(a)); }
inline int __bfloat162int_rn(__nv_bfloat16 a) { return int(std::nearbyint(float(a))); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16::of_bits(a); }

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }

GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, __nv_bfloat16, SIM_ATOMIC_BF16)
GEMMLAB_ATOMIC(atomicAdd, SIM_ATOMIC_ADD, __nv_bfloat162, SIM_ATOMIC_BF16X2)
