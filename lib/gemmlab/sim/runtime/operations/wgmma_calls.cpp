// wgmma as kernels call it.
#include <algorithm>
#include <limits>

#include "wgmma.h"
#include "engine/worker.h"
#include "mbarrier.h"

namespace sim {

namespace {

struct WgmmaWait {
  u32 newest;
  uintptr_t lowest;
};

void fence_warp(Worker& worker, Fiber* fibers, u32) {
  if (!worker.launch().traced) return;
  for (u32 lane = 0; lane < WARP; ++lane) worker.state<Wgmma>().watch(fibers[lane]).fence();
}

void start_warp(Worker& worker, Fiber* fibers, u32) { worker.state<Wgmma>().start(worker, fibers); }

void commit_warp(Worker& worker, Fiber* fibers, u32) { worker.state<Wgmma>().commit(fibers); }

void wait_warp(Worker& worker, Fiber* fibers, u32) {
  uintptr_t lowest[WARP];
  for (u32 lane = 0; lane < WARP; ++lane)
    lowest[lane] = static_cast<WgmmaWait*>(fibers[lane].wait.operands)->lowest;
  const u32 newest = static_cast<WgmmaWait*>(fibers->wait.operands)->newest;
  worker.state<Wgmma>().wait(worker, fibers, newest, lowest);
}

bool all_warps_are_there(Fiber& fiber) {
  return fiber.worker->state<Wgmma>().is_complete(fiber, wgmma_call_of(fiber).number);
}

void describe_missing_warp(const Fiber& fiber, Finding& finding) {
  static const char* const NAMES[] = {"warp 0 of its warpgroup", "warp 1 of its warpgroup",
                                      "warp 2 of its warpgroup", "warp 3 of its warpgroup",
                                      "its warpgroup"};
  finding.other_name =
      NAMES[fiber.worker->state<Wgmma>().missing_warp(fiber, wgmma_call_of(fiber).number)];
}

const Collective WGMMA_FENCE = {"wgmma_fence", fence_warp, true};
const Collective WGMMA_START = {Wgmma::NAME, start_warp, true};
const Collective WGMMA_COMMIT = {"wgmma_commit", commit_warp, true};
const Collective WGMMA_WAIT = {"wgmma_wait", wait_warp, true};
const Condition WGMMA_WARPGROUP = {Wgmma::NAME, all_warps_are_there, describe_missing_warp};

}  // namespace

}  // namespace sim

extern "C" {

void sim_wgmma_fence(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  fiber.worker->meet(fiber, {pc, line, &sim::WGMMA_FENCE, ~0u, nullptr});
}

void sim_wgmma(unsigned form, float* d, const uint32_t* a, uint64_t desc_a, uint64_t desc_b,
               int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::WgmmaCall call = {form, d, a, desc_a, desc_b, uintptr_t(__builtin_dwarf_cfa())};
  fiber.worker->meet(fiber, {pc, line, &sim::WGMMA_START, ~0u, &call});
  if (call.is_refused) fiber.worker->abandon(fiber, call.why);
  // What is in them does not matter from here on: an early use must not find what an earlier block
  // has left there.
  if (!(form & SIM_WGMMA_ACCUMULATE))
    std::fill_n(d, (form & SIM_WGMMA_N) / 2, std::numeric_limits<float>::quiet_NaN());
  if (fiber.worker->launch().traced)
    fiber.worker->state<sim::Wgmma>().watch(fiber).start(fiber, pc, call.number, d, a,
                                                         form & SIM_WGMMA_N);
  fiber.worker->wait_until(fiber, {pc, line, nullptr, 0, &call, &sim::WGMMA_WARPGROUP});
}

void sim_wgmma_commit(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  fiber.worker->state<sim::Mbarriers>().has_untold_order = true;
  fiber.worker->meet(fiber, {pc, line, &sim::WGMMA_COMMIT, ~0u, nullptr});
}

void sim_wgmma_wait(unsigned groups, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::WgmmaWait call = {groups, uintptr_t(__builtin_dwarf_cfa())};
  fiber.worker->meet(fiber, {pc, line, &sim::WGMMA_WAIT, ~0u, &call});
}

}  // extern "C"
