// Stand-in for kernels/ptx/cluster.cuh.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "../gemmlab_sim/abi_cluster.h"

__device__ __forceinline__ uint32_t cluster_rank() { return sim_cluster_rank(); }
__device__ __forceinline__ uint32_t cluster_size() { return sim_cluster_size(); }
__device__ __forceinline__ void cluster_arrive() { sim_cluster_arrive(); }
__device__ __forceinline__ void cluster_wait(int line = __builtin_LINE()) {
  sim_cluster_wait(line);
}
__device__ __forceinline__ void cluster_sync(int line = __builtin_LINE()) {
  cluster_arrive();
  cluster_wait(line);
}
__device__ __forceinline__ uint32_t mapa(uint32_t addr, uint32_t rank) {
  return sim_mapa(addr, rank);
}
__device__ __forceinline__ float ld_shared_cluster(uint32_t addr) {
  const uint32_t bits = sim_load_remote(addr);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
__device__ __forceinline__ void st_shared_cluster(uint32_t addr, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  sim_store_remote(addr, bits);
}
