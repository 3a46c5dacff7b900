// What Python calls (gemmlab/sim/module.py), and what a kernel asks about itself.
#include <algorithm>

#include "../include/gemmlab_sim/abi.h"
#include "grid.h"

namespace sim {

namespace {

// One launcher runs at a time; Python holds a lock.
struct Session {
  std::vector<std::unique_ptr<Module>> modules;
  const Module* module = nullptr;
  bool traced = false;
  u32 workers = 1;
  Results results;
};
Session session;

struct CountRow {
  u32 pc, op, width, reserved;
  Counter counter;
};

constexpr int SUCCESS = 0, INVALID_CONFIGURATION = 9, OUT_OF_MEMORY = 2;

bool is_valid(const SimLaunch& launch) {
  const auto& [grid, block, dynamic_bytes] = launch;
  const u64 threads = u64(block.x) * block.y * block.z;
  return threads >= 1 && threads <= MAX_THREADS && block.z <= 64 && grid.x >= 1 &&
         grid.x < 1u << 31 && grid.y >= 1 && grid.y < 1u << 16 && grid.z >= 1 &&
         grid.z < 1u << 16 && dynamic_bytes <= SharedMemory::MAX_DYNAMIC;
}

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

// Describes the kernel library that holds `address`. `starts` (rising) and `sites` give the place
// in the source of all code from one start to the next; `arrays` are offset, bytes of each
// __shared__ array. Returns null if no library holds the address.
const void* gemmlab_sim_module(uintptr_t address, const uint32_t* starts, const uint32_t* sites,
                               uint32_t site_count, const sim::SharedArray* arrays,
                               uint32_t array_count, int64_t dynamic_offset) {
  auto module = std::make_unique<sim::Module>();
  if (!sim::find_library(address, *module)) return nullptr;
  module->arrays.assign(arrays, arrays + array_count);
  module->dynamic_offset = dynamic_offset;
  module->site_of_pc.resize(module->code_bytes + 1);
  for (uint32_t i = 0; i < site_count; ++i) {
    const uint32_t end = i + 1 < site_count ? starts[i + 1] : module->code_bytes;
    // The pc of a call is its return address, which may be the first of the next place.
    for (uint32_t at = starts[i]; at < end; ++at) module->site_of_pc[at + 1] = sites[i];
  }
  sim::session.modules.push_back(std::move(module));
  return sim::session.modules.back().get();
}

void* gemmlab_sim_allocate(size_t bytes) { return sim::arena.allocate(bytes); }
void gemmlab_sim_free_all() { sim::arena.clear(); }

// To be called before a kernel's launcher: all that it launches adds to one result.
void gemmlab_sim_begin(const void* module, int traced, uint32_t workers) {
  sim::session.module = static_cast<const sim::Module*>(module);
  sim::session.traced = traced != 0;
  sim::session.workers = std::max(workers, 1u);
  sim::session.results = {};
  sim::hooks = traced ? sim::u32(sim::HOOKS_TRACE) : 0u;
}

// From another thread: the launch stops at the next memory access of each block.
void gemmlab_sim_cancel() { sim::hooks |= sim::HOOKS_CANCEL; }

uint32_t gemmlab_sim_count_rows() { return uint32_t(sim::session.results.counters.size()); }
void gemmlab_sim_counts(sim::CountRow* rows) {
  for (const auto& [what, counter] : sim::session.results.counters)
    *rows++ = {sim::pc_of(what), uint32_t(sim::op_of(what)), 1u << sim::log2_width_of(what), 0,
               counter};
}

uint32_t gemmlab_sim_finding_rows() {
  return uint32_t(sim::session.results.findings.list().size());
}
const sim::Finding* gemmlab_sim_findings() { return sim::session.results.findings.list().data(); }

// ---- called by kernels: include/gemmlab_sim/abi.h ----

int sim_launch(const SimLaunch* launch, void (*body)(void*), void* arguments) {
  if (!sim::is_valid(*launch)) return sim::INVALID_CONFIGURATION;
  sim::Session& session = sim::session;
  const sim::Launch all = {launch->grid, launch->block,  launch->dynamic_bytes, body,
                           arguments,    session.module, session.traced};
  return sim::run_grid(all, session.workers, session.results) ? sim::SUCCESS : sim::OUT_OF_MEMORY;
}

SimIndex sim_thread_index() { return sim::running_fiber()->thread; }
SimIndex sim_block_index() { return sim::running_fiber()->worker->block_index(); }
SimIndex sim_block_size() { return sim::running_fiber()->worker->launch().block; }
SimIndex sim_grid_size() { return sim::running_fiber()->worker->launch().grid; }

void sim_syncthreads(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  fiber.worker->synchronize_block(fiber, fiber.pc_of(__builtin_return_address(0)), line);
}

}  // extern "C"
#pragma GCC visibility pop
