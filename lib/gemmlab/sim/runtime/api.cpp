// What Python calls (gemmlab/sim/module.py), and what a kernel asks about itself.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "../include/gemmlab_sim/abi.h"
#include "engine/fault.h"
#include "engine/grid.h"
#include "engine/launches.h"
#include "engine/limits.h"
#include "engine/output.h"
#include "engine/session.h"
#include "engine/watchdog.h"
#include "engine/program.h"
#include "memory/heap.h"
#include "operations/grid_dependency.h"
#include "operations/host_waits.h"
#include "operations/polling.h"

namespace sim {

Session session;

namespace {

void begin(const Module* module, bool traced, double budget) {
  session.module = module;
  session.traced = traced;
  session.journal = session.values = session.is_program = false;
  session.most_clusters = 0;
  session.results = {};
  session.records.clear();
  session.shown = &session.results;
  session.results.findings.reserve(64);
  session.launches.clear();
  forget_kept_launches();
  forget_host_waits();
  last_error = {};
  device_error = cudaSuccess;
  budget_seconds = budget;
  progress.done = progress.all = progress.headway = 0;
  output.clear();
  hooks = traced ? u32(HOOKS_TRACE) : 0u;
}

// Calls code of the host. A fault of its own is a finding; then returns false.
bool call(const HostCode& code, int (*entry)(const void*), const void* arguments, int& result) {
  Finding fault;
  if (call_host(code, entry, arguments, result, fault)) return true;
  session.results.findings.add(fault);
  return false;
}

struct CountRow {
  u32 what, pc, op, width;
  Counter counter;
};

struct SampleRow {
  u32 what, reserved;
  Sample sample;
};

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

// Describes the kernel library that holds `address`. `starts` (rising) and `sites` give the place
// in the source of all code from one start to the next; `arrays` are offset, bytes of each
// __shared__ array; `kernels`, `plain_order` and `communicates` are described in module.h. Returns
// null if no library holds the address.
const void* gemmlab_sim_module(uintptr_t address, const uint32_t* starts, const uint32_t* sites,
                               uint32_t site_count, const sim::SharedArray* arrays,
                               uint32_t array_count, const sim::KernelFacts* kernels,
                               uint32_t kernel_count, int plain_order, int64_t dynamic_offset,
                               int communicates) {
  auto module = std::make_unique<sim::Module>();
  if (!sim::find_library(address, *module)) return nullptr;
  module->arrays.assign(arrays, arrays + array_count);
  module->kernels.assign(kernels, kernels + kernel_count);
  module->has_plain_order = plain_order != 0;
  module->dynamic_offset = dynamic_offset;
  module->communicates = communicates != 0;
  module->site_of_pc.resize(module->code_bytes + 1);
  for (uint32_t i = 0; i < site_count; ++i) {
    const uint32_t end = i + 1 < site_count ? starts[i + 1] : module->code_bytes;
    // The pc of a call is its return address, which may be the first of the next place.
    for (uint32_t at = starts[i]; at < end; ++at) module->site_of_pc[at + 1] = sites[i];
  }
  sim::session.modules.push_back(std::move(module));
  return sim::session.modules.back().get();
}

// To be called after gemmlab_sim_module: the names of its arrays, in the same order.
void gemmlab_sim_array_names(const void* module, const char* const* names, uint32_t count) {
  auto& found = *static_cast<sim::Module*>(const_cast<void*>(module));
  for (uint32_t i = 0; i < count; ++i) found.array_names.push_back(sim::kept(names[i]));
}

// To be called after gemmlab_sim_module: Module::widest, `count` bytes.
void gemmlab_sim_widths(const void* module, const uint8_t* widest, size_t count) {
  auto& found = *static_cast<sim::Module*>(const_cast<void*>(module));
  found.widest.assign(widest, widest + count);
}

void* gemmlab_sim_allocate(size_t bytes, size_t lead) { return sim::arena.allocate(bytes, lead); }
// The address by which a request names this place in global memory.
uint32_t gemmlab_sim_offset(uintptr_t address) { return uint32_t(sim::arena.offset_of(address)); }
size_t gemmlab_sim_memory() { return sim::Arena::BYTES; }
void gemmlab_sim_free_all() {
  sim::arena.clear();
  sim::heap.clear();
}

// To be called before a kernel's launcher: all that it launches adds to one result. sms: how many
// the launcher is told of. order: in which blocks are dispatched, a seed (engine/turns.h). traced:
// 1, or 2 to keep a journal, too, or 3 for one with values.
void gemmlab_sim_begin(const void* module, int traced, uint32_t workers, double budget_s, int sms,
                       uint32_t order) {
  sim::begin(static_cast<const sim::Module*>(module), traced != 0, budget_s);
  sim::session.journal = traced >= 2;
  sim::session.values = traced == 3;
  sim::session.workers = std::max(workers, 1u);
  sim::session.order = order;
  sim::multiprocessors = sms;
  sim::grid_writes.begin();
}

// To be called after `begin`: of each launch only so many clusters, or blocks, are run.
void gemmlab_sim_limit(uint64_t clusters) { sim::session.most_clusters = clusters; }

// Runs the launcher. A fault of its own is a finding, and the result is then 0.
int gemmlab_sim_call(int (*entry)(const void*), const void* arguments) {
  int result = 0;
  sim::arena.open(false);
  const sim::Role role = sim::session.is_program ? sim::Role::PROGRAM : sim::Role::LAUNCHER;
  const bool done = sim::call({role, sim::session.module, nullptr}, entry, arguments, result);
  sim::arena.open(true);
  if (done) sim::settle_host_waits();
  return done ? result : 0;
}

// Loads a kernel's library, which runs its static initialisers. Returns its handle; null if it
// cannot be loaded, or if an initialiser has failed, which is a finding.
void* gemmlab_sim_load(const char* path, double budget_s) {
  struct Loading {
    const char* path;
    void* handle;
  } loading = {path, nullptr};
  sim::begin(nullptr, false, budget_s);
  const auto load = [](const void* arguments) {
    auto& loading = *static_cast<Loading*>(const_cast<void*>(arguments));
    loading.handle = dlopen(loading.path, RTLD_NOW);
    return 0;
  };
  int result = 0;
  sim::call({sim::Role::INITIALISER, nullptr, path}, load, &loading, result);
  return loading.handle;
}

// From another thread: how many blocks are done, how many there are, and the count of headway.
void gemmlab_sim_progress(uint64_t* done, uint64_t* all, uint64_t* headway) {
  *done = sim::progress.done;
  *all = sim::progress.all;
  *headway = sim::progress.headway;
}

// From another thread: the launcher is in a loop without end, and stops.
void gemmlab_sim_give_up() { sim::give_up_host(); }

// What was printed, up to a zero, and how many calls of printf found no room.
const char* gemmlab_sim_output() { return sim::output.text(); }
uint64_t gemmlab_sim_output_left_out() { return sim::output.left_out(); }

// From another thread: the launch stops.
void gemmlab_sim_cancel() { sim::hooks |= sim::HOOKS_CANCEL; }

uint32_t gemmlab_sim_count_rows() { return uint32_t(sim::session.shown->instructions.size()); }
void gemmlab_sim_counts(sim::CountRow* rows) {
  for (const auto& [what, instruction] : sim::session.shown->instructions)
    *rows++ = {what, sim::pc_of(what), uint32_t(sim::op_of(what)), 1u << sim::log2_width_of(what),
               instruction.counter};
}

// Writes the requests that were kept, if `rows` is not null; returns how many they are.
uint32_t gemmlab_sim_samples(sim::SampleRow* rows) {
  uint32_t count = 0;
  for (const auto& [what, instruction] : sim::session.shown->instructions)
    for (const sim::Sample& sample : instruction.samples.list()) {
      if (rows) rows[count] = {what, 0, sample};
      ++count;
    }
  return count;
}

// The launches since `begin`, in their order, if `rows` is not null; returns how many they are.
uint32_t gemmlab_sim_launches(sim::LaunchRow* rows) {
  if (rows) std::copy(sim::session.launches.begin(), sim::session.launches.end(), rows);
  return uint32_t(sim::session.launches.size());
}

void gemmlab_sim_journal_size(sim::JournalSize* size) {
  *size = sim::session.results.journal.size();
}
void gemmlab_sim_journal(sim::JournalRow* rows, uint32_t* words) {
  sim::session.results.journal.copy(rows, words);
}

uint32_t gemmlab_sim_finding_rows() { return uint32_t(sim::session.shown->findings.list().size()); }
const sim::Finding* gemmlab_sim_findings() { return sim::session.shown->findings.list().data(); }

// The error that a launcher has met and not asked for, as a sentence; empty if there is none.
const char* gemmlab_sim_reason() { return sim::last_error.reason; }

// ---- called by kernels: include/gemmlab_sim/abi.h ----

void sim_open_memory(int usable) { sim::arena.open(usable != 0); }

int sim_set_attribute(const void* kernel, int attribute, int value) {
  return sim::set_attribute(*sim::session.module, kernel, attribute, value);
}

long long sim_clock() {
  if (sim::Fiber* fiber = sim::running_fiber())
    sim::note_clock(*fiber, fiber->pc_of(__builtin_return_address(0)));
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
int sim_on_device() { return sim::running_fiber() != nullptr; }
SimIndex sim_thread_index() { return sim::running_fiber()->thread; }
SimIndex sim_block_index() { return sim::running_fiber()->worker->block_index(); }
SimIndex sim_block_size() { return sim::running_fiber()->worker->launch().block; }
SimIndex sim_grid_size() { return sim::running_fiber()->worker->launch().grid; }

void sim_assertion_failed(const char* expression) {
  sim::Finding finding = {sim::Kind::ASSERTION};
  finding.name = expression;
  sim::stop_caller(finding, __builtin_return_address(0));
  __builtin_trap();
}

void sim_syncthreads(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  fiber.worker->synchronize_block(fiber, fiber.pc_of(__builtin_return_address(0)), line);
}

// Its kernels take turns, so memory is in order anyway; the fence counts for races.
void sim_threadfence() {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Worker& worker = *fiber.worker;
  if (worker.launch().traced && worker.globals().fence(fiber)) worker.races().forget_calm();
  worker.cluster().offer_turn();
}

}  // extern "C"
#pragma GCC visibility pop
