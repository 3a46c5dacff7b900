// Shared memory of other blocks of the cluster: mapa, ld/st.shared::cluster (PTX ISA, "state
// spaces"). Not counted: these accesses go through the network between SMs, not through the banks
// of the own one.
#include <cstring>

#include "../../include/gemmlab_sim/abi_cluster.h"
#include "memory/access.h"

namespace sim {

void check_peer(Fiber& fiber, u32 rank, u32 pc) {
  Worker& worker = *fiber.worker;
  if (!worker.launch().traced) return;
  if (!worker.clocks().knows_start(fiber, rank))
    worker.mutable_findings().add({Kind::REMOTE_UNORDERED, pc, 0, worker.block(), fiber.index});
  Cluster& cluster = worker.cluster();
  if (!cluster.is_running(rank))
    worker.mutable_findings().add({Kind::REMOTE_AFTER_EXIT, pc, 0, cluster.worker(rank)->block()});
}

namespace {

// The memory at an address of the cluster's shared window; checked for an access of 4 bytes.
char* remote(Fiber& fiber, u32 address, Access access, u32 pc) {
  constexpr u32 WIDTH = 4;
  Cluster& cluster = fiber.worker->cluster();
  const u32 rank = rank_of(address, fiber.rank), offset = offset_in_block(address);
  Worker* owner = cluster.worker(rank);
  if (!owner || !owner->shared().contains(offset, WIDTH)) refuse_shared(fiber, WIDTH, access, pc);
  if (offset % WIDTH) refuse_misaligned(fiber, offset, WIDTH, access, pc);
  if (fiber.worker->launch().traced) {
    if (rank != fiber.rank) check_peer(fiber, rank, pc);
    if (access == Access::READ)
      cluster.races.read(fiber, address, WIDTH, pc);
    else
      cluster.races.write(fiber, address, WIDTH, pc);
  }
  return owner->shared().at(address);
}

}  // namespace

}  // namespace sim

extern "C" {

unsigned sim_cluster_rank() { return sim::running_fiber()->worker->rank(); }
unsigned sim_cluster_size() { return sim::running_fiber()->worker->cluster().ranks(); }
uint32_t sim_mapa(uint32_t address, unsigned rank) { return sim::map_to_rank(address, rank); }

uint32_t sim_load_remote(uint32_t address) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  uint32_t value;
  std::memcpy(&value, sim::remote(fiber, address, sim::Access::READ, pc), sizeof value);
  return value;
}

void sim_store_remote(uint32_t address, uint32_t value) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  std::memcpy(sim::remote(fiber, address, sim::Access::WRITE, pc), &value, sizeof value);
}

}  // extern "C"
