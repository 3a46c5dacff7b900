// What ptx/mbarrier.cuh, ptx/fence.cuh, ptx/barrier.cuh and ptx/tma.cuh call in the runtime.
// Addresses of 32 bits are shared ones.
#pragma once
#include <cstdint>

// Where a box of the copy engine begins, in as many dimensions as its instruction names.
struct SimPlace {
  uint32_t rank;
  int at[5];
};

#pragma GCC visibility push(default)
extern "C" {
void sim_mbarrier_init(uint32_t address, uint32_t count);
void sim_mbarrier_inval(uint32_t address);
void sim_mbarrier_arrive(uint32_t address);
// The parity of the phase under way.
uint32_t sim_mbarrier_parity(uint32_t address);
void sim_mbarrier_arrive_expect_tx(uint32_t address, uint32_t bytes);
void sim_mbarrier_expect_tx(uint32_t address, uint32_t bytes);
void sim_mbarrier_wait(uint32_t address, uint32_t parity, int line);
void sim_mbarrier_arrive_cluster(uint32_t address, uint32_t rank);
void sim_mbarrier_arrive_remote(uint32_t address, uint32_t rank);

void sim_fence_mbarrier_init();
void sim_fence_proxy_async();

void sim_bar_sync(uint32_t number, uint32_t threads, int line);
void sim_bar_arrive(uint32_t number, uint32_t threads, int line);

void sim_tma_load(uint32_t to, const void* map, uint32_t barrier, SimPlace place);
// ranks: a bit for each block of the cluster.
void sim_tma_load_multicast(uint32_t to, const void* map, uint32_t barrier, SimPlace place,
                            uint16_t ranks);
void sim_tma_store(const void* map, uint32_t from, SimPlace place);
void sim_tma_prefetch(const void* map);

void sim_bulk_commit();
// Until at most `newest` groups are unfinished, or have not read shared memory.
void sim_bulk_wait(unsigned newest);
void sim_bulk_wait_read(unsigned newest);
}
#pragma GCC visibility pop
