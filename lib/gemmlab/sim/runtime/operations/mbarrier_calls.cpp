// What kernels call: the mbarrier instructions (mbarrier.h).
#include "../../include/gemmlab_sim/abi_async.h"
#include "memory/access.h"
#include "mbarrier.h"

namespace sim {

namespace {

// Of operations that only take addresses of the own block (.shared::cta).
void check_own(Fiber& fiber, const AsyncOp& op, u32 address) {
  if (rank_of(address, fiber.rank) != fiber.rank)
    refuse_shared(fiber, Mbarrier::BYTES, Access::WRITE, op.pc);
}

Mbarrier& use_own(Fiber& fiber, const AsyncOp& op, u32 address) {
  check_own(fiber, op, address);
  return use_mbarrier(fiber, op, address);
}

void initialise(Fiber& fiber, const AsyncOp& op, u32 address, u32 count) {
  Worker& worker = *fiber.worker;
  check_own(fiber, op, address);
  Mbarrier& barrier = find_mbarrier(fiber, op, address);
  if (count < 1 || count > Mbarrier::MAX_COUNT)
    refuse_mbarrier(fiber, Kind::BAD_ARGUMENT, op, count,
                    "as the number of arrivals; let it be 1 to 1048575");
  if (worker.launch().traced) {
    if (barrier.is_valid) {
      Finding finding = {Kind::MBARRIER_TWICE, op.pc, barrier.init_pc, worker.block(), fiber.index};
      finding.name = op.name;
      finding.number[0] = barrier.init_thread;
      worker.mutable_findings().add(finding);
      worker.races().end_object(fiber, op, address, Mbarrier::BYTES);
    }
    worker.races().begin_object(fiber, op, address, Mbarrier::BYTES);
  }
  // A copy that has not ended will signal the new barrier.
  const u32 copies = barrier.copies, agent = barrier.agent;
  barrier = Mbarrier();
  barrier.copies = copies;
  barrier.agent = agent;
  barrier.is_valid = true;
  barrier.address = map_to_rank(address, fiber.rank);
  barrier.count = barrier.pending = count;
  barrier.initialiser = fiber.slot;
  barrier.init_thread = fiber.index;
  barrier.init_stamp = fiber.stamp;
  barrier.init_pc = op.pc;
  mark(fiber, op.pc, Mark::MBARRIER_INIT, address);
  keep_value(fiber, &count, sizeof count, op.pc);
  if (worker.launch().traced) barrier.arriving = barrier.completed = worker.clocks().new_clock();
}

void invalidate(Fiber& fiber, const AsyncOp& op, u32 address) {
  Mbarrier& barrier = use_own(fiber, op, address);
  barrier.is_valid = false;
  if (fiber.worker->launch().traced)
    fiber.worker->races().end_object(fiber, op, address, Mbarrier::BYTES);
}

struct PhaseWait {
  Mbarrier* barrier;
  u32 parity;
};

PhaseWait& phase_wait_of(const Fiber& fiber) {
  return *static_cast<PhaseWait*>(fiber.wait.operands);
}

// Parity p names the phase with that last bit: the current one, or the one before, which is over.
bool is_phase_over(Fiber& fiber) {
  const PhaseWait& wait = phase_wait_of(fiber);
  return wait.barrier->is_valid && (wait.barrier->phase & 1) != wait.parity;
}

void describe_phase(const Fiber& fiber, Finding& finding) {
  const Mbarrier& barrier = *phase_wait_of(fiber).barrier;
  finding.other_pc = barrier.init_pc;
  finding.number[0] = barrier.pending;
  finding.number[1] = barrier.expected;
  finding.number[2] = barrier.delivered;
  finding.number[3] = barrier.phase;
  if (!barrier.pending) finding.kind = Kind::TRANSACTION_BYTES;
}

const Condition PHASE_END = {"mbarrier_wait", is_phase_over, describe_phase};

// The wait has returned for the last phase that is over. Were the one before it not, which has the
// other parity, the wait would have returned at once; so the thread has to know that it is.
void check_generation(Fiber& fiber, const Mbarrier& barrier, const AsyncOp& op) {
  Worker& worker = *fiber.worker;
  if (barrier.phase < 2 || worker.clocks().knows_all(fiber, barrier.completed_before)) return;
  Finding finding = {Kind::MBARRIER_AHEAD, op.pc, barrier.init_pc, worker.block(), fiber.index};
  finding.number[0] = i64(barrier.phase) - 1;
  worker.mutable_findings().add(finding);
}

void wait_for_phase(Fiber& fiber, const AsyncOp& op, u32 address, u32 parity, int line) {
  PhaseWait operands = {&use_own(fiber, op, address), parity};
  if (parity > 1)
    refuse_mbarrier(fiber, Kind::BAD_ARGUMENT, op, parity, "as the parity; let it be 0 or 1");
  Wait wait = {op.pc, line};
  wait.operands = &operands;
  wait.condition = &PHASE_END;
  fiber.worker->wait_until(fiber, wait);
  Mbarrier& barrier = *operands.barrier;
  barrier.waited_phase = barrier.phase;
  barrier.note_wait(fiber, op.pc);
  if (!fiber.worker->launch().traced) return;
  check_generation(fiber, barrier, op);
  fiber.worker->clocks().acquire(fiber, barrier.completed);
  barrier.waiters.push_back({op.pc, fiber.slot, fiber.stamp, fiber.index});
}

}  // namespace

}  // namespace sim

namespace {

sim::AsyncOp operation(const char* name, const sim::Fiber& fiber, const void* return_address) {
  return {name, fiber.pc_of(return_address), false};
}

}  // namespace

#define GEMMLAB_OPERATION(name)              \
  sim::Fiber& fiber = *sim::running_fiber(); \
  const sim::AsyncOp op = operation(name, fiber, __builtin_return_address(0))

extern "C" {

void sim_mbarrier_init(uint32_t address, uint32_t count) {
  GEMMLAB_OPERATION("mbarrier_init");
  sim::initialise(fiber, op, address, count);
}

void sim_mbarrier_inval(uint32_t address) {
  GEMMLAB_OPERATION("mbarrier_inval");
  sim::invalidate(fiber, op, address);
}

void sim_mbarrier_arrive(uint32_t address) {
  GEMMLAB_OPERATION("mbarrier_arrive");
  sim::mark(fiber, op.pc, sim::Mark::MBARRIER_ARRIVE, address);
  sim::arrive(fiber, sim::use_own(fiber, op, address), op);
}

void sim_mbarrier_arrive_expect_tx(uint32_t address, uint32_t bytes) {
  GEMMLAB_OPERATION("mbarrier_arrive_expect_tx");
  sim::mark(fiber, op.pc, sim::Mark::MBARRIER_ARRIVE, address);
  sim::Mbarrier& barrier = sim::use_own(fiber, op, address);
  sim::expect_bytes(fiber, barrier, op, bytes);
  sim::arrive(fiber, barrier, op);
}

void sim_mbarrier_expect_tx(uint32_t address, uint32_t bytes) {
  GEMMLAB_OPERATION("mbarrier_expect_tx");
  sim::Mbarrier& barrier = sim::use_own(fiber, op, address);
  sim::expect_bytes(fiber, barrier, op, bytes);
  barrier.advance(*fiber.worker);
}

void sim_mbarrier_wait(uint32_t address, uint32_t parity, int line) {
  GEMMLAB_OPERATION("mbarrier_wait");
  sim::mark(fiber, op.pc, sim::Mark::MBARRIER_WAIT, address);
  sim::wait_for_phase(fiber, op, address, parity, line);
}

uint32_t sim_mbarrier_parity(uint32_t address) {
  GEMMLAB_OPERATION("mbarrier_arrive");
  return sim::use_own(fiber, op, address).phase & 1;
}

void sim_mbarrier_arrive_cluster(uint32_t address, uint32_t rank) {
  GEMMLAB_OPERATION("mbarrier_arrive_cluster");
  if (fiber.worker->launch().traced) fiber.worker->clocks().publish(fiber);
  sim::arrive(fiber, sim::use_mbarrier(fiber, op, sim::map_to_rank(address, rank)), op);
}

// What the thread has read is in order with what comes after the wait; what it has written is not.
void sim_mbarrier_arrive_remote(uint32_t address, uint32_t rank) {
  GEMMLAB_OPERATION("mbarrier_arrive_remote");
  sim::arrive(fiber, sim::use_mbarrier(fiber, op, sim::map_to_rank(address, rank)), op);
}

}  // extern "C"
