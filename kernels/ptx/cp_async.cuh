// cp.async: a thread copies 4, 8 or 16 bytes from global to shared memory, and goes on meanwhile.
// From sm_80 on.
//
// Both addresses are multiples of the size. `ca` caches the line in L1, `cg` only in L2. The forms
// _zfill read the first src_bytes and write zeros for the rest; with 0 nothing is read, and src may
// point anywhere.
// A thread's copies since its last commit are a group, perhaps an empty one. wait<N> returns when
// all of its groups but the newest N have arrived. Other threads may read them after a barrier that
// comes after the wait.
// PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
#pragma once
#include <cstdint>

template <int BYTES>
__device__ __forceinline__ void cp_async_ca(uint32_t dst_addr, const void* src) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(dst_addr), "l"(src), "n"(BYTES)
               : "memory");
}

__device__ __forceinline__ void cp_async_cg(uint32_t dst_addr, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst_addr), "l"(src) : "memory");
}

// The same, with the hint that the L2 may fetch all 128 bytes of the line.
__device__ __forceinline__ void cp_async_cg_l2_128b(uint32_t dst_addr, const void* src) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(dst_addr), "l"(src)
               : "memory");
}

template <int BYTES>
__device__ __forceinline__ void cp_async_ca_zfill(uint32_t dst_addr, const void* src,
                                                  int src_bytes) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst_addr), "l"(src),
               "n"(BYTES), "r"(src_bytes)
               : "memory");
}

__device__ __forceinline__ void cp_async_cg_zfill(uint32_t dst_addr, const void* src,
                                                  int src_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst_addr), "l"(src),
               "r"(src_bytes)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(N >= 0, "a number of groups");
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Also for copies that are in no group yet.
__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Instead of a wait: an arrival at the mbarrier, as soon as all copies of this thread so far have
// arrived. It is one of the arrivals that the barrier was initialised with (noinc), and says
// nothing about what the thread has done otherwise.
// PTX ISA, "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive".
__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(uint32_t bar_addr) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar_addr) : "memory");
}
