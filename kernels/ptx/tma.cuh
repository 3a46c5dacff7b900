// The copy engine (TMA): one thread moves a two-dimensional box between global and shared memory. A
// tensor map, made on the host (launch/tensor_map.cuh), describes the tensor, the box and how its
// 16-byte chunks stand in shared memory. What lies outside of the tensor is loaded as zero, and not
// stored. PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor". From sm_90
// on.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

// Loads the box whose first element is column x of row y to a shared address, a multiple of 128.
// The mbarrier then gets the bytes of the whole box.
// x begins at a multiple of 16 bytes, here and below; any other is an illegal instruction.
__device__ __forceinline__ void tma_load_2d(uint32_t dst_addr, const CUtensorMap* map,
                                            uint32_t bar_addr, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(dst_addr),
      "l"(map), "r"(bar_addr), "r"(x), "r"(y)
      : "memory");
}

// The same, with a cache policy (cache_policy.cuh) as a hint for the L2.
__device__ __forceinline__ void tma_load_2d_hint(uint32_t dst_addr, const CUtensorMap* map,
                                                 uint32_t bar_addr, int x, int y, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(dst_addr),
      "l"(map), "r"(bar_addr), "r"(x), "r"(y), "l"(policy)
      : "memory");
}

// A load into all blocks of the cluster that `cta_mask` has a bit for: at the same place in the
// shared memory of each, with its mbarrier at the same place.
__device__ __forceinline__ void tma_load_2d_multicast(uint32_t dst_addr, const CUtensorMap* map,
                                                      uint32_t bar_addr, int x, int y,
                                                      uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(dst_addr),
      "l"(map), "r"(bar_addr), "r"(x), "r"(y), "h"(cta_mask)
      : "memory");
}

// Stores a box. The thread waits for it by bulk groups.
__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, uint32_t src_addr, int x,
                                             int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(src_addr), "r"(x), "r"(y)
      : "memory");
}

// The same, with a cache policy (cache_policy.cuh) as a hint for the L2.
__device__ __forceinline__ void tma_store_2d_hint(const CUtensorMap* map, uint32_t src_addr, int x,
                                                  int y, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%2, %3}], [%1], %4;" ::"l"(map),
      "r"(src_addr), "r"(x), "r"(y), "l"(policy)
      : "memory");
}

// The same; the lines that it writes are the first to leave the L2: for what nobody will read soon.
__device__ __forceinline__ void tma_store_2d_evict_first(const CUtensorMap* map, uint32_t src_addr,
                                                         int x, int y) {
  asm volatile(
      "{\n"
      ".reg .b64 policy;\n"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%2, %3}], [%1], policy;\n"
      "}" ::"l"(map),
      "r"(src_addr), "r"(x), "r"(y)
      : "memory");
}

// The stores that this thread has started since the last commit become a group.
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most the newest N groups are unfinished: what the older ones store is in global
// memory.
template <int N>
__device__ __forceinline__ void bulk_wait() {
  static_assert(N >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

// Waits until at most the newest N groups have still to read shared memory: that of the older ones
// may be written again.
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
  static_assert(N >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// Brings a tensor map into the copy engine's cache.
__device__ __forceinline__ void tma_prefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
