// __syncwarp, the shuffles and the votes.
#include "../include/gemmlab_sim/abi.h"
#include "worker.h"

namespace sim {

namespace {

void execute_syncwarp(Worker& worker, Fiber* fibers, u32 lanes) {
  if (!worker.launch().traced) return;
  Fiber* joining[WARP];
  u32 count = 0;
  for (u32 n = 0; n < WARP; ++n)
    if (lanes >> n & 1) joining[count++] = &fibers[n];
  worker.clocks().join(joining, count);
}

struct ShuffleOperands {
  u64 value, result;
  SimShuffle mode;
  u32 operand, width;
};

// The lane to read from; the own lane where that would leave the segment (PTX ISA, shfl.sync).
u32 source_lane(u32 lane, const ShuffleOperands& shuffle) {
  const u32 first = lane & ~(shuffle.width - 1), last = first + shuffle.width - 1;
  switch (shuffle.mode) {
    case SIM_SHUFFLE_INDEX:
      return first + (shuffle.operand & (shuffle.width - 1));
    case SIM_SHUFFLE_UP:
      return lane - first >= shuffle.operand ? lane - shuffle.operand : lane;
    case SIM_SHUFFLE_DOWN:
      return last - lane >= shuffle.operand ? lane + shuffle.operand : lane;
    case SIM_SHUFFLE_XOR:
      return (lane ^ shuffle.operand) <= last ? lane ^ shuffle.operand : lane;
  }
  return lane;
}

void execute_shuffle(Worker& worker, Fiber* fibers, u32 lanes) {
  for (u32 n = 0; n < WARP; ++n) {
    if (!(lanes >> n & 1)) continue;
    auto& mine = *static_cast<ShuffleOperands*>(fibers[n].wait.operands);
    const u32 from = source_lane(n, mine);
    if (lanes >> from & 1)
      mine.result = static_cast<ShuffleOperands*>(fibers[from].wait.operands)->value;
    else
      worker.report_inactive_lane(fibers[n], from);
  }
}

struct BallotOperands {
  bool predicate;
  u32 result;
};

void execute_ballot(Worker&, Fiber* fibers, u32 lanes) {
  u32 votes = 0;
  for (u32 n = 0; n < WARP; ++n)
    if (lanes >> n & 1 && static_cast<BallotOperands*>(fibers[n].wait.operands)->predicate)
      votes |= 1u << n;
  for (u32 n = 0; n < WARP; ++n)
    if (lanes >> n & 1) static_cast<BallotOperands*>(fibers[n].wait.operands)->result = votes;
}

const Collective SYNCWARP = {"__syncwarp", execute_syncwarp};
const Collective SHUFFLES[] = {{"__shfl_sync", execute_shuffle},
                               {"__shfl_up_sync", execute_shuffle},
                               {"__shfl_down_sync", execute_shuffle},
                               {"__shfl_xor_sync", execute_shuffle}};
const Collective BALLOT = {"a warp vote", execute_ballot};

}  // namespace

}  // namespace sim

extern "C" void sim_syncwarp(unsigned mask, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  fiber.worker->meet(
      fiber, {fiber.pc_of(__builtin_return_address(0)), line, &sim::SYNCWARP, mask, nullptr});
}

extern "C" uint64_t sim_shuffle(unsigned mask, uint64_t value, SimShuffle mode, unsigned operand,
                                unsigned width, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::ShuffleOperands operands = {value, value, mode, operand, width};
  fiber.worker->meet(fiber, {fiber.pc_of(__builtin_return_address(0)), line, &sim::SHUFFLES[mode],
                             mask, &operands});
  return operands.result;
}

extern "C" unsigned sim_ballot(unsigned mask, int predicate, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::BallotOperands operands = {predicate != 0, 0};
  fiber.worker->meet(
      fiber, {fiber.pc_of(__builtin_return_address(0)), line, &sim::BALLOT, mask, &operands});
  return operands.result;
}
