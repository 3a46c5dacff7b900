// mbarriers: 8 bytes of shared memory, aligned to 8, that count arrivals and bytes. A phase is over
// when all arrivals have come and all expected bytes; then the next one begins. Parity 0 names the
// first phase, 1 the second, 0 the third: waiting for the parity of the phase before the current
// one returns at once, so waiting for parity 1 on a new barrier does. PTX ISA, "Parallel
// Synchronization and Communication Instructions: mbarrier". From sm_90 on.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// By one thread; the others must not use the barrier before a __syncthreads().
__device__ __forceinline__ void mbarrier_init(uint32_t bar_addr, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar_addr), "r"(count) : "memory");
}

// The memory may be used for something else from here on.
__device__ __forceinline__ void mbarrier_inval(uint32_t bar_addr) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar_addr) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint32_t bar_addr) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar_addr) : "memory");
}

// Expects so many bytes more in this phase, then arrives.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t bar_addr, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar_addr), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_expect_tx(uint32_t bar_addr, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar_addr),
               "r"(bytes)
               : "memory");
}

// Whether the phase of that parity is over; may wait a while for it.
__device__ __forceinline__ bool mbarrier_try_wait(uint32_t bar_addr, uint32_t parity) {
  uint32_t over;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(over)
      : "r"(bar_addr), "r"(parity)
      : "memory");
  return over != 0;
}

__device__ __forceinline__ void mbarrier_wait(uint32_t bar_addr, uint32_t parity) {
  while (!mbarrier_try_wait(bar_addr, parity)) {
  }
}

// Arrives at the barrier at the same place in the shared memory of block `cta_rank` of the cluster,
// and releases to the cluster: who waits with mbarrier_wait_cluster sees what this thread wrote or
// knew of. The release is a fence of the whole GPU (MEMBAR.ALL.GPU), so not for inner loops.
__device__ __forceinline__ void mbarrier_arrive_cluster(uint32_t bar_addr, uint32_t cta_rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(bar_addr),
      "r"(cta_rank)
      : "memory");
}

// The same for a thread that has only read: it says that the place may be written again, and tells
// no other block of anything written. CUTLASS's ClusterBarrier::arrive. No fence.
__device__ __forceinline__ void mbarrier_arrive_remote(uint32_t bar_addr, uint32_t cta_rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(bar_addr),
      "r"(cta_rank)
      : "memory");
}

// As mbarrier_wait, also for what arriving threads of other blocks of the cluster did before.
__device__ __forceinline__ void mbarrier_wait_cluster(uint32_t bar_addr, uint32_t parity) {
  uint32_t over = 0;
  while (!over) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(over)
        : "r"(bar_addr), "r"(parity)
        : "memory");
  }
}
