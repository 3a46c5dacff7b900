// __syncwarp, the shuffles, votes and reductions of a warp, and elect.sync.
#include <algorithm>

#include "../../include/gemmlab_sim/abi.h"
#include "../../include/gemmlab_sim/abi_matrix.h"
#include "engine/worker.h"

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

struct ReduceOperands {
  u32 value;
  SimReduce operation;
};

u32 reduce(SimReduce operation, u32 a, u32 b) {
  switch (operation) {
    case SIM_REDUCE_ADD:
      return a + b;
    case SIM_REDUCE_MIN:
      return std::min(a, b);
    case SIM_REDUCE_MAX:
      return std::max(a, b);
    case SIM_REDUCE_MIN_SIGNED:
      return u32(std::min(int32_t(a), int32_t(b)));
    case SIM_REDUCE_MAX_SIGNED:
      return u32(std::max(int32_t(a), int32_t(b)));
    case SIM_REDUCE_AND:
      return a & b;
    case SIM_REDUCE_OR:
      return a | b;
    case SIM_REDUCE_XOR:
      return a ^ b;
  }
  return a;
}

void execute_reduce(Worker&, Fiber* fibers, u32 lanes) {
  const auto operands = [fibers](u32 lane) {
    return static_cast<ReduceOperands*>(fibers[lane].wait.operands);
  };
  const u32 first = u32(__builtin_ctz(lanes));
  u32 result = operands(first)->value;
  for (u32 n = first + 1; n < WARP; ++n)
    if (lanes >> n & 1) result = reduce(operands(n)->operation, result, operands(n)->value);
  for (u32 n = 0; n < WARP; ++n)
    if (lanes >> n & 1) operands(n)->value = result;
}

// The leader is the lowest lane, as on the device: PTX ISA, "elect.sync", only says that it is the
// same one each time.
void execute_elect(Worker&, Fiber* fibers, u32 lanes) {
  *static_cast<bool*>(fibers[__builtin_ctz(lanes)].wait.operands) = true;
}

const Collective SYNCWARP = {"__syncwarp", execute_syncwarp};
const Collective SHUFFLES[] = {{"__shfl_sync", execute_shuffle},
                               {"__shfl_up_sync", execute_shuffle},
                               {"__shfl_down_sync", execute_shuffle},
                               {"__shfl_xor_sync", execute_shuffle}};
const Collective BALLOT = {"a warp vote", execute_ballot};
const Collective REDUCE = {"a warp reduction", execute_reduce};
const Collective ELECT = {"elect.sync", execute_elect};

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
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  if (!width || width > sim::WARP || width & (width - 1)) {
    sim::Finding finding = {sim::Kind::BAD_ARGUMENT, pc};
    finding.number[0] = int(width);
    finding.name = sim::SHUFFLES[mode].name;
    finding.other_name = "as the width; let it be a power of two, at most 32";
    fiber.worker->abandon(fiber, finding);
  }
  sim::ShuffleOperands operands = {value, value, mode, operand, width};
  fiber.worker->meet(fiber, {pc, line, &sim::SHUFFLES[mode], mask, &operands});
  return operands.result;
}

extern "C" unsigned sim_ballot(unsigned mask, int predicate, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::BallotOperands operands = {predicate != 0, 0};
  fiber.worker->meet(
      fiber, {fiber.pc_of(__builtin_return_address(0)), line, &sim::BALLOT, mask, &operands});
  return operands.result;
}

extern "C" uint32_t sim_reduce(unsigned mask, uint32_t value, SimReduce operation, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::ReduceOperands operands = {value, operation};
  fiber.worker->meet(
      fiber, {fiber.pc_of(__builtin_return_address(0)), line, &sim::REDUCE, mask, &operands});
  return operands.value;
}

extern "C" bool sim_elect(unsigned mask, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  bool elected = false;
  fiber.worker->meet(fiber,
                     {fiber.pc_of(__builtin_return_address(0)), line, &sim::ELECT, mask, &elected});
  return elected;
}

extern "C" unsigned sim_active_mask() {
  sim::Fiber& fiber = *sim::running_fiber();
  return fiber.worker->warp_of(fiber).live;
}

namespace sim {

namespace {

// What a lane learns once nobody of its warp can go on: who is here with it.
struct Coalescing {
  u32 mask = 0;
};

bool has_coalesced(Fiber& fiber);
void describe_coalescing(const Fiber&, Finding&) {}
const Condition COALESCING = {"coalesced_threads", has_coalesced, describe_coalescing};

bool is_coalescing(const Fiber& lane, int line) {
  return lane.state == State::AT_CONDITION && lane.wait.condition == &COALESCING &&
         lane.wait.line == line;
}

// Whether a lane that is elsewhere can go on.
bool may_go_on(Fiber& lane) {
  if (lane.state == State::READY || lane.state == State::LOG_FULL) return true;
  const Condition* condition = lane.wait.condition;
  return lane.state == State::AT_CONDITION && condition != &COALESCING && condition->holds(lane);
}

bool has_coalesced(Fiber& fiber) {
  if (static_cast<Coalescing*>(fiber.wait.operands)->mask) return true;
  Warp& warp = fiber.worker->warp_of(fiber);
  if (warp.complete()) return false;
  u32 here = 0;
  for (u32 n = 0; n < warp.size; ++n) {
    Fiber& lane = warp.fibers[n];
    const bool is_here = &lane == &fiber || is_coalescing(lane, fiber.wait.line);
    if (is_here) here |= 1u << n;
    if (!is_here && may_go_on(lane)) return false;
  }
  for (u32 n = 0; n < warp.size; ++n)
    if (here >> n & 1) static_cast<Coalescing*>(warp.fibers[n].wait.operands)->mask = here;
  return true;
}

// Sums of the last three __syncthreads_count of a block: when a thread sets one to zero, nobody can
// be adding to it, or have it still to read.
struct Votes : Mechanism {
  static constexpr u32 SUMS = 3;
  int sum[SUMS] = {};
  std::vector<u32> turn;  // of each thread

  void begin_block(Worker& worker) override {
    *this = Votes();
    turn.resize(worker.launch().threads());
  }
};

}  // namespace

}  // namespace sim

extern "C" unsigned sim_coalesced_mask(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Coalescing operands;
  sim::Wait wait = {fiber.pc_of(__builtin_return_address(0)), line};
  wait.operands = &operands;
  wait.condition = &sim::COALESCING;
  fiber.worker->wait_until(fiber, wait);
  return operands.mask;
}

extern "C" int sim_syncthreads_count(int predicate, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Votes& votes = fiber.worker->state<sim::Votes>();
  const sim::u32 turn = votes.turn[fiber.index]++;
  votes.sum[turn % sim::Votes::SUMS] += predicate != 0;
  fiber.worker->synchronize_block(fiber, fiber.pc_of(__builtin_return_address(0)), line);
  votes.sum[(turn + 2) % sim::Votes::SUMS] = 0;
  return votes.sum[turn % sim::Votes::SUMS];
}
