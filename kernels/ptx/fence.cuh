// Fences between ways to memory: loads, stores and mbarrier instructions take the generic proxy,
// the copy engine and the tensor cores the async proxy. PTX ISA, "membar, fence" and "Proxies".
// From sm_90 on.
#pragma once
#include <cuda_runtime.h>

// Makes mbarriers that this thread has initialised visible to the cluster, and, as CUTLASS uses it,
// to the copy engine.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Makes what this thread has written to shared memory visible to the async proxy: after the writes,
// before the barrier behind which another thread starts a store or a wgmma that reads them.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
