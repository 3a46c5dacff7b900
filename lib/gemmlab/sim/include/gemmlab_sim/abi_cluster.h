// What ptx/cluster.cuh calls in the runtime.
#pragma once
#include <cstdint>

#pragma GCC visibility push(default)
extern "C" {
unsigned sim_cluster_rank();
unsigned sim_cluster_size();
void sim_cluster_arrive();
void sim_cluster_wait(int line);
// The address, in the cluster's shared window, of the same place in the block `rank`.
uint32_t sim_mapa(uint32_t address, unsigned rank);
uint32_t sim_load_remote(uint32_t address);
void sim_store_remote(uint32_t address, uint32_t value);
}
#pragma GCC visibility pop
