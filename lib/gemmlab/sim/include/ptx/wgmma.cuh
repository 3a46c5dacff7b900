// Stand-in for kernels/ptx/wgmma.cuh.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "../gemmlab_sim/abi_wgmma.h"

__device__ __forceinline__ void wgmma_fence(int line = __builtin_LINE()) { sim_wgmma_fence(line); }

__device__ __forceinline__ void wgmma_commit(int line = __builtin_LINE()) {
  sim_wgmma_commit(line);
}

template <int N>
__device__ __forceinline__ void wgmma_wait(int line = __builtin_LINE()) {
  static_assert(N >= 0, "a number of groups");
  sim_wgmma_wait(N, line);
}

// Where registers lie is ptxas's concern.
__device__ __forceinline__ void wgmma_detach(float (&x)[4]) { (void)x; }

template <int COUNT>
__device__ __forceinline__ void wgmma_clear(float (&d)[COUNT]) {
  for (int i = 0; i < COUNT; ++i) d[i] = 0.0f;
}

namespace gemmlab_sim {

template <int N, class T>
constexpr unsigned wgmma_form(bool trans_a, bool trans_b, int scale_d) {
  static_assert(N % 8 == 0 && 8 <= N && N <= 256, "a multiple of 8 from 8 to 256");
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
  return N | (std::is_same_v<T, __half> ? 0u : SIM_WGMMA_BFLOAT) |
         (trans_a ? SIM_WGMMA_TRANS_A : 0u) | (trans_b ? SIM_WGMMA_TRANS_B : 0u) |
         (scale_d ? SIM_WGMMA_ACCUMULATE : 0u);
}

}  // namespace gemmlab_sim

template <int N, class T, bool TRANS_A = false, bool TRANS_B = false>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], uint64_t desc_a, uint64_t desc_b,
                                             int scale_d, int line = __builtin_LINE()) {
  const unsigned form = gemmlab_sim::wgmma_form<N, T>(TRANS_A, TRANS_B, scale_d);
  sim_wgmma(form, d, nullptr, desc_a, desc_b, line);
}

template <int N, class T, bool TRANS_B = false>
__device__ __forceinline__ void wgmma_m64k16_rs(float (&d)[N / 2], const uint32_t (&a)[4],
                                                uint64_t desc_b, int scale_d,
                                                int line = __builtin_LINE()) {
  const unsigned form = gemmlab_sim::wgmma_form<N, T>(false, TRANS_B, scale_d);
  sim_wgmma(form, d, a, 0, desc_b, line);
}
