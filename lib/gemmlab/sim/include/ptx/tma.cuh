// Stand-in for kernels/ptx/tma.cuh. An x that is no multiple of 16 bytes is refused, as on a GPU.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "../gemmlab_sim/abi_async.h"

__device__ __forceinline__ void tma_load_2d(uint32_t dst_addr, const CUtensorMap* map,
                                            uint32_t bar_addr, int x, int y) {
  sim_tma_load(dst_addr, map, bar_addr, {2, {x, y}});
}

// A hint for the L2, which the simulator does not have.
__device__ __forceinline__ void tma_load_2d_hint(uint32_t dst_addr, const CUtensorMap* map,
                                                 uint32_t bar_addr, int x, int y, uint64_t policy) {
  (void)policy;
  tma_load_2d(dst_addr, map, bar_addr, x, y);
}

__device__ __forceinline__ void tma_load_2d_multicast(uint32_t dst_addr, const CUtensorMap* map,
                                                      uint32_t bar_addr, int x, int y,
                                                      uint16_t cta_mask) {
  sim_tma_load_multicast(dst_addr, map, bar_addr, {2, {x, y}}, cta_mask);
}

__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, uint32_t src_addr, int x,
                                             int y) {
  sim_tma_store(map, src_addr, {2, {x, y}});
}

__device__ __forceinline__ void tma_store_2d_hint(const CUtensorMap* map, uint32_t src_addr, int x,
                                                  int y, uint64_t policy) {
  (void)policy;
  tma_store_2d(map, src_addr, x, y);
}

__device__ __forceinline__ void tma_store_2d_evict_first(const CUtensorMap* map, uint32_t src_addr,
                                                         int x, int y) {
  sim_tma_store(map, src_addr, {2, {x, y}});
}

__device__ __forceinline__ void bulk_commit() { sim_bulk_commit(); }

template <int N>
__device__ __forceinline__ void bulk_wait() {
  static_assert(N >= 0, "a number of groups");
  sim_bulk_wait(N);
}

template <int N>
__device__ __forceinline__ void bulk_wait_read() {
  static_assert(N >= 0, "a number of groups");
  sim_bulk_wait_read(N);
}

__device__ __forceinline__ void tma_prefetch(const CUtensorMap* map) { sim_tma_prefetch(map); }
