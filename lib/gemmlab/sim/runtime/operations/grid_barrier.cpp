// grid.sync() of cooperative groups: a barrier of all blocks of a cooperative launch, which are
// resident together and take turns (engine/turns.h). As on a device, each block meets at its own
// barrier, one of its threads goes to the grid's, and the block meets again.
#include "../../include/gemmlab_sim/abi.h"
#include "engine/worker.h"

namespace sim {

namespace {

constexpr u32 HERE = ~0u;  // where the blocks pass on what they have done: no offset of memory

// Whether some thread of the block has gone to the grid's barrier.
struct GridDelegate : Mechanism {
  bool has_gone = false;
  void begin_block(Worker&) override { has_gone = false; }
};

bool grid_round_has_ended(Fiber& fiber) {
  const u64 round = *static_cast<const u64*>(fiber.wait.operands);
  return fiber.worker->cluster().grid().barrier.round != round;
}

void describe_grid_round(const Fiber& fiber, Finding& finding) {
  finding.number[0] = i64(fiber.worker->cluster().grid().barrier.come);
  finding.number[1] = i64(fiber.worker->launch().blocks());
}

const Condition GRID_BARRIER = {"grid.sync()", grid_round_has_ended, describe_grid_round};

void go_to(Worker& worker, Fiber& fiber, Wait wait) {
  GridBarrier& barrier = worker.cluster().grid().barrier;
  GlobalRaceCheck* const races = worker.launch().traced ? &worker.globals() : nullptr;
  if (races) {
    races->fence(fiber);
    races->pass_on(fiber, HERE, true);
  }
  u64 round = barrier.round;
  if (++barrier.come == worker.launch().blocks()) {
    barrier.come = 0;
    ++barrier.round;
    worker.cluster().note_headway();
  }
  wait.operands = &round;
  wait.condition = &GRID_BARRIER;
  worker.wait_until(fiber, wait);
  if (!races) return;
  races->see(fiber, HERE);
  races->fence(fiber);
}

}  // namespace

}  // namespace sim

extern "C" int sim_is_cooperative() { return sim::running_fiber()->worker->launch().cooperative; }

extern "C" void sim_grid_sync(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Worker& worker = *fiber.worker;
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  if (worker.launch().blocks() > sim::MAX_RESIDENT)
    sim_not_simulated(
        "grid.sync() in a grid of more than 132 blocks, one for each SM | launch at most 132, and "
        "let "
        "each do more");
  worker.synchronize_block(fiber, pc, line);
  bool& has_gone = worker.state<sim::GridDelegate>().has_gone;
  if (!has_gone) {
    has_gone = true;
    sim::go_to(worker, fiber, {pc, line});
  }
  worker.synchronize_block(fiber, pc, line);
  has_gone = false;
}
