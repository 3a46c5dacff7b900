// Stand-in for kernels/ptx/cp_async.cuh.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_copy.h"

template <int BYTES>
__device__ __forceinline__ void cp_async_ca(uint32_t dst_addr, const void* src) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes");
  sim_cp_async(dst_addr, src, BYTES, BYTES, SIM_COPY_CA);
}

__device__ __forceinline__ void cp_async_cg(uint32_t dst_addr, const void* src) {
  sim_cp_async(dst_addr, src, 16, 16, SIM_COPY_CG);
}

// A hint for the L2, which the simulator does not have.
__device__ __forceinline__ void cp_async_cg_l2_128b(uint32_t dst_addr, const void* src) {
  cp_async_cg(dst_addr, src);
}

template <int BYTES>
__device__ __forceinline__ void cp_async_ca_zfill(uint32_t dst_addr, const void* src,
                                                  int src_bytes) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes");
  sim_cp_async(dst_addr, src, BYTES, static_cast<unsigned>(src_bytes), SIM_COPY_CA);
}

__device__ __forceinline__ void cp_async_cg_zfill(uint32_t dst_addr, const void* src,
                                                  int src_bytes) {
  sim_cp_async(dst_addr, src, 16, static_cast<unsigned>(src_bytes), SIM_COPY_CG_ZFILL);
}

__device__ __forceinline__ void cp_async_commit() { sim_cp_async_commit(); }

template <int N>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(N >= 0, "a number of groups");
  sim_cp_async_wait(N);
}

__device__ __forceinline__ void cp_async_wait_all() { sim_cp_async_wait_all(); }

__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(uint32_t bar_addr) {
  sim_cp_async_mbarrier_arrive(bar_addr);
}
