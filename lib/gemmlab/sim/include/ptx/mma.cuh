// Stand-in for kernels/ptx/mma.cuh.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "../gemmlab_sim/abi_matrix.h"

namespace gemmlab_sim {

__forceinline__ void multiply(SimMma form, float (&d)[4], SimRegs4 a, uint32_t b0, uint32_t b1,
                              int line) {
  const SimFloats4 sum = sim_mma(form, a, b0, b1, {d[0], d[1], d[2], d[3]}, line);
  d[0] = sum.d0;
  d[1] = sum.d1;
  d[2] = sum.d2;
  d[3] = sum.d3;
}

}  // namespace gemmlab_sim

template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2], int line = __builtin_LINE()) {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
  constexpr SimMma form = std::is_same_v<T, __half> ? SIM_MMA_F16_K16 : SIM_MMA_BF16_K16;
  gemmlab_sim::multiply(form, d, {a[0], a[1], a[2], a[3]}, b[0], b[1], line);
}

template <class T>
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const uint32_t (&a)[2],
                                            const uint32_t (&b)[1], int line = __builtin_LINE()) {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
  constexpr SimMma form = std::is_same_v<T, __half> ? SIM_MMA_F16_K8 : SIM_MMA_BF16_K8;
  gemmlab_sim::multiply(form, d, {a[0], a[1], 0, 0}, b[0], 0, line);
}

__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2],
                                                 int line = __builtin_LINE()) {
  gemmlab_sim::multiply(SIM_MMA_TF32_K8, d, {a[0], a[1], a[2], a[3]}, b[0], b[1], line);
}

// To the nearest multiple of 2^13 in the mantissa's 23 bits; a carry into the exponent is right.
// The same steps as in the machine code for sm_90: NaNs are not treated apart.
__device__ __forceinline__ uint32_t to_tf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const bool is_finite = (bits & 0x7fffffff) < 0x7f800000;
  if (is_finite) bits += 0x1000;
  return bits & 0xffffe000;
}
