// nvcuda::wmma is a header (include/mma.h) on top of ldmatrix, movmatrix and mma.sync. Here is only
// that its loads and stores, too, are done by a whole warp.
#include "../../include/gemmlab_sim/abi_matrix.h"
#include "engine/worker.h"
#include "memory/access.h"

namespace sim {

namespace {

void execute_nothing(Worker&, Fiber*, u32) {}

// By SimWmmaStep.
const Collective WMMA[] = {{"load_matrix_sync", execute_nothing, true},
                           {"store_matrix_sync", execute_nothing, true}};

}  // namespace

}  // namespace sim

extern "C" void sim_wmma_unfilled(bool is_stored) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Worker& worker = *fiber.worker;
  sim::Finding finding = {sim::Kind::UNFILLED_FRAGMENT, fiber.pc_of(__builtin_return_address(0)), 0,
                          worker.block(), fiber.index};
  finding.name = is_stored ? "store_matrix_sync" : "mma_sync";
  worker.mutable_findings().add(finding);
}

extern "C" void sim_wmma(SimWmmaStep step, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::mark(fiber, pc, sim::Mark::WMMA);
  fiber.worker->meet(fiber, {pc, line, &sim::WMMA[step], ~0u});
}
