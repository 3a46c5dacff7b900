// Clusters: blocks that run at the same time and can reach each other's shared memory. The lanes of
// a warp execute cluster_arrive() and cluster_wait() together (.aligned), and each wait follows an
// arrive of its thread. PTX ISA: barrier.cluster, mapa, ld/st with .shared::cluster. From sm_90 on.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// Number of this block in its cluster, x fastest.
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Number of blocks in the cluster.
__device__ __forceinline__ uint32_t cluster_size() {
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

// Says that this thread has come to the barrier of the cluster; what it wrote before can be read by
// whoever waits.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// Waits until all threads of the cluster that have not ended have come to the barrier.
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// The address, in the cluster's shared window, of the same place in the shared memory of block
// `rank`.
__device__ __forceinline__ uint32_t mapa(uint32_t addr, uint32_t rank) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(addr), "r"(rank));
  return mapped;
}

__device__ __forceinline__ float ld_shared_cluster(uint32_t addr) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(addr) : "memory");
  return value;
}

__device__ __forceinline__ void st_shared_cluster(uint32_t addr, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(addr), "f"(value) : "memory");
}
