// Stand-in for kernels/ptx/mbarrier.cuh. A try_wait always waits until the phase is over, which a
// GPU may do too.
#pragma once
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_async.h"

__device__ __forceinline__ void mbarrier_init(uint32_t bar_addr, uint32_t count) {
  sim_mbarrier_init(bar_addr, count);
}

__device__ __forceinline__ void mbarrier_inval(uint32_t bar_addr) { sim_mbarrier_inval(bar_addr); }

__device__ __forceinline__ void mbarrier_arrive(uint32_t bar_addr) {
  sim_mbarrier_arrive(bar_addr);
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t bar_addr, uint32_t bytes) {
  sim_mbarrier_arrive_expect_tx(bar_addr, bytes);
}

__device__ __forceinline__ void mbarrier_expect_tx(uint32_t bar_addr, uint32_t bytes) {
  sim_mbarrier_expect_tx(bar_addr, bytes);
}

__device__ __forceinline__ bool mbarrier_try_wait(uint32_t bar_addr, uint32_t parity,
                                                  int line = __builtin_LINE()) {
  sim_mbarrier_wait(bar_addr, parity, line);
  return true;
}

__device__ __forceinline__ void mbarrier_wait(uint32_t bar_addr, uint32_t parity,
                                              int line = __builtin_LINE()) {
  sim_mbarrier_wait(bar_addr, parity, line);
}

__device__ __forceinline__ void mbarrier_arrive_cluster(uint32_t bar_addr, uint32_t cta_rank) {
  sim_mbarrier_arrive_cluster(bar_addr, cta_rank);
}

__device__ __forceinline__ void mbarrier_arrive_remote(uint32_t bar_addr, uint32_t cta_rank) {
  sim_mbarrier_arrive_remote(bar_addr, cta_rank);
}

__device__ __forceinline__ void mbarrier_wait_cluster(uint32_t bar_addr, uint32_t parity,
                                                      int line = __builtin_LINE()) {
  sim_mbarrier_wait(bar_addr, parity, line);
}
