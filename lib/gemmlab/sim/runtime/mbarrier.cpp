#include "mbarrier.h"

#include "../include/gemmlab_sim/abi_async.h"
#include "access.h"

namespace sim {

namespace {

[[noreturn]] void refuse_mbarrier(Fiber& fiber, Kind kind, const AsyncOp& op, i64 value = 0,
                                  const char* what = nullptr) {
  Finding finding = {kind, op.pc};
  finding.name = op.name;
  finding.other_name = what;
  finding.number[0] = value;
  fiber.worker->abandon(fiber, finding);
}

// The barrier at an address, initialised or not.
Mbarrier& find_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address) {
  check_alignment(fiber, op, address, Mbarrier::BYTES);
  const u32 rank = rank_of(address, fiber.rank), offset = offset_in_block(address);
  Worker* owner = fiber.worker->cluster().worker(rank);
  if (!owner || !owner->shared().contains(offset, Mbarrier::BYTES))
    refuse_shared(fiber, Mbarrier::BYTES, Access::WRITE, op.pc);
  if (rank != fiber.rank) check_peer(fiber, rank, op.pc);
  return owner->state<Mbarriers>().at(offset);
}

// An operation that only takes addresses of the own block (.shared::cta).
Mbarrier& use_own(Fiber& fiber, const AsyncOp& op, u32 address) {
  if (rank_of(address, fiber.rank) != fiber.rank)
    refuse_shared(fiber, Mbarrier::BYTES, Access::WRITE, op.pc);
  return use_mbarrier(fiber, op, address);
}

void initialise(Fiber& fiber, const AsyncOp& op, u32 address, u32 count) {
  Worker& worker = *fiber.worker;
  Mbarrier& barrier = find_mbarrier(fiber, op, address);
  if (count < 1 || count > Mbarrier::MAX_COUNT)
    refuse_mbarrier(fiber, Kind::BAD_ARGUMENT, op, count,
                    "as the number of arrivals; let it be 1 to 1048575");
  if (worker.launch().traced) {
    if (barrier.is_valid) {
      Finding finding = {Kind::MBARRIER_TWICE, op.pc, barrier.init_pc, worker.block(), fiber.index};
      finding.name = op.name;
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
  barrier.init_stamp = fiber.stamp;
  barrier.init_pc = op.pc;
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
  if (fiber.worker->launch().traced) fiber.worker->clocks().acquire(fiber, barrier.completed);
}

}  // namespace

void Mbarrier::advance() {
  if (pending || missing_bytes()) return;
  ++phase;
  pending = count;
  expected = delivered = 0;
  completed = arriving;
}

void Mbarriers::end_block(Worker& worker) {
  for (const auto& [offset, barrier] : barriers_) {
    if (!barrier.copies && barrier.filled_phase <= barrier.waited_phase) continue;
    Finding finding = {Kind::UNFINISHED, barrier.last_copy.pc, 0, worker.block()};
    finding.name = barrier.last_copy.name;
    worker.mutable_findings().add(finding);
  }
}

void Mbarriers::fence(u32 slot) {
  for (auto& [offset, barrier] : barriers_) barrier.is_fenced |= barrier.initialiser == slot;
}

Mbarrier& use_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address) {
  Mbarrier& barrier = find_mbarrier(fiber, op, address);
  if (!barrier.is_valid) refuse_mbarrier(fiber, Kind::MBARRIER_MISSING, op);
  if (fiber.worker->launch().traced)
    fiber.worker->races().use_object(fiber, op, barrier.address, Mbarrier::BYTES);
  return barrier;
}

void arrive(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op) {
  if (!barrier.pending) {
    Finding finding = {Kind::MBARRIER_OVERRUN, op.pc, barrier.init_pc};
    finding.name = op.name;
    finding.number[0] = barrier.count;
    fiber.worker->abandon(fiber, finding);
  }
  if (fiber.worker->launch().traced) fiber.worker->clocks().release(fiber, barrier.arriving);
  --barrier.pending;
  barrier.advance();
}

void expect_bytes(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op, u32 bytes) {
  barrier.expected += bytes;
  if (barrier.missing_bytes() > Mbarrier::MAX_COUNT)
    refuse_mbarrier(fiber, Kind::BAD_ARGUMENT, op, bytes,
                    "bytes, with which a phase expects more than 1048575; expect fewer at a time");
}

void begin_copy(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op) {
  Worker& worker = *fiber.worker;
  ++barrier.copies;
  barrier.last_copy = op;
  if (!worker.launch().traced) return;
  if (!barrier.agent) barrier.agent = worker.clocks().new_agent();
  if (barrier.is_fenced ||
      worker.clocks().is_fenced(fiber, barrier.initialiser, barrier.init_stamp))
    return;
  Finding finding = {Kind::MBARRIER_UNFENCED, op.pc, barrier.init_pc, worker.block(), fiber.index};
  finding.name = op.name;
  worker.mutable_findings().add(finding);
}

u32 end_copy(Worker& worker, Mbarrier& barrier, u32 bytes) {
  u32 stamp = 0;
  if (worker.launch().traced) {
    stamp = worker.clocks().new_stamp();
    barrier.arriving[barrier.agent] = stamp;
  }
  --barrier.copies;
  barrier.filled_phase = barrier.phase + 1;
  barrier.delivered += bytes;
  barrier.advance();
  return stamp;
}

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
  sim::arrive(fiber, sim::use_own(fiber, op, address), op);
}

void sim_mbarrier_arrive_expect_tx(uint32_t address, uint32_t bytes) {
  GEMMLAB_OPERATION("mbarrier_arrive_expect_tx");
  sim::Mbarrier& barrier = sim::use_own(fiber, op, address);
  sim::expect_bytes(fiber, barrier, op, bytes);
  sim::arrive(fiber, barrier, op);
}

void sim_mbarrier_expect_tx(uint32_t address, uint32_t bytes) {
  GEMMLAB_OPERATION("mbarrier_expect_tx");
  sim::Mbarrier& barrier = sim::use_own(fiber, op, address);
  sim::expect_bytes(fiber, barrier, op, bytes);
  barrier.advance();
}

void sim_mbarrier_wait(uint32_t address, uint32_t parity, int line) {
  GEMMLAB_OPERATION("mbarrier_wait");
  sim::wait_for_phase(fiber, op, address, parity, line);
}

void sim_mbarrier_arrive_cluster(uint32_t address, uint32_t rank) {
  GEMMLAB_OPERATION("mbarrier_arrive_cluster");
  sim::arrive(fiber, sim::use_mbarrier(fiber, op, sim::map_to_rank(address, rank)), op);
}

}  // extern "C"
