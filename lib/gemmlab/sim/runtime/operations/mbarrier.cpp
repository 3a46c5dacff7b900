#include "mbarrier.h"

#include <algorithm>
#include <map>

#include "memory/access.h"

namespace sim {

void refuse_mbarrier(Fiber& fiber, Kind kind, const AsyncOp& op, i64 value, const char* what) {
  Finding finding = {kind, op.pc};
  finding.name = op.name;
  finding.other_name = what;
  finding.number[0] = value;
  fiber.worker->abandon(fiber, finding);
}

Mbarrier& find_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address) {
  check_alignment(fiber, op, address, Mbarrier::BYTES);
  const u32 rank = rank_of(address, fiber.rank), offset = offset_in_block(address);
  Worker* owner = fiber.worker->cluster().worker(rank);
  if (!owner || !owner->shared().contains(offset, Mbarrier::BYTES))
    refuse_shared(fiber, Mbarrier::BYTES, Access::WRITE, op.pc);
  if (rank != fiber.rank) check_peer(fiber, rank, op.pc);
  return owner->state<Mbarriers>().at(offset);
}

void Mbarrier::advance(Worker& worker) {
  if (pending || missing_bytes()) return;
  // Clocks tell who knows of whom. With some operations, or with copies into other blocks, more is
  // in order than they tell.
  const bool is_told = worker.cluster().ranks() == 1 && !worker.state<Mbarriers>().has_untold_order;
  for (const PhaseWaiter& waiter : waiters) {
    if (!is_told || arriving[waiter.slot] >= waiter.stamp) continue;
    Finding finding = {Kind::MBARRIER_OVERTAKEN, waiter.pc, init_pc, worker.block(), waiter.thread};
    finding.number[0] = i64(phase) - 1;
    worker.mutable_findings().add(finding);
  }
  waiters.clear();
  // Another block of a cluster may have requested what belongs to the next phase.
  if (!requested_early && requested > expected && worker.cluster().ranks() == 1)
    announced_early = expected, requested_early = requested;
  ++phase;
  pending = count;
  expected = delivered = requested = 0;
  std::swap(completed_before, completed);
  completed = arriving;
}

void Mbarrier::note_arrival(const Fiber& fiber) {
  last_slot = fiber.slot;
  last_thread = fiber.index;
}

void Mbarrier::note_wait(const Fiber& fiber, u32 pc) {
  if (waited_by.empty()) waited_by.resize(fiber.worker->launch().threads());
  u32& known = waited_by[fiber.index];
  if (!early.pc && phase <= known) {
    early = {pc, fiber.index, i64(phase) - 1};
    early_number = ++fiber.worker->state<Mbarriers>().early_waits;
  }
  known = phase;
}

Finding Mbarrier::overrun(const Fiber& fiber, const AsyncOp& op) const {
  Finding finding = {Kind::MBARRIER_OVERRUN, op.pc, init_pc, fiber.worker->block(), fiber.index};
  finding.name = op.name;
  finding.number[0] = count;
  finding.number[1] = last_thread;
  finding.number[2] = last_slot == fiber.slot;
  // Where no copies end, who begins with a wait that returns at once may be right.
  if (early.phase >= 0 || !copy_pcs.empty()) finding.early = early;
  return finding;
}

void Mbarriers::explain(Worker& worker) {
  std::map<u32, const Mbarrier*> in_order;
  for (const auto& [offset, barrier] : barriers_)
    if (barrier.early.pc) in_order[barrier.early_number] = &barrier;
  for (const auto& [number, barrier] : in_order)
    worker.mutable_findings().explain_reads(worker.block(), barrier->copy_pcs, barrier->early);
}

void Mbarriers::end_block(Worker& worker) {
  for (const auto& [offset, barrier] : barriers_) {
    if (!barrier.copies && barrier.filled_phase <= barrier.waited_phase) continue;
    Finding finding = {Kind::UNFINISHED, barrier.last_copy.pc, 0, worker.block()};
    finding.name = barrier.last_copy.name;
    finding.number[2] = barrier.announced_early;
    finding.number[3] = barrier.requested_early;
    finding.early = barrier.early;
    worker.mutable_findings().add(finding);
  }
}

void Mbarriers::fence(u32 slot) {
  for (auto& [offset, barrier] : barriers_) barrier.is_fenced |= barrier.initialiser == slot;
}

Mbarrier& use_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address) {
  Mbarrier& barrier = find_mbarrier(fiber, op, address);
  if (!barrier.is_valid) refuse_mbarrier(fiber, Kind::MBARRIER_MISSING, op, 0, nullptr);
  if (fiber.worker->launch().traced)
    fiber.worker->races().use_object(fiber, op, barrier.address, Mbarrier::BYTES);
  return barrier;
}

void arrive(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op) {
  if (!barrier.pending) fiber.worker->abandon(fiber, barrier.overrun(fiber, op));
  barrier.note_arrival(fiber);
  if (fiber.worker->launch().traced) fiber.worker->clocks().release(fiber, barrier.arriving);
  --barrier.pending;
  barrier.advance(*fiber.worker);
}

void expect_bytes(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op, u32 bytes) {
  barrier.expected += bytes;
  if (barrier.missing_bytes() > Mbarrier::MAX_COUNT)
    refuse_mbarrier(fiber, Kind::BAD_ARGUMENT, op, bytes,
                    "bytes, with which a phase expects more than 1048575; expect fewer at a time");
}

void begin_copy(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op, u32 bytes) {
  Worker& worker = *fiber.worker;
  ++barrier.copies;
  barrier.requested += bytes;
  barrier.last_copy = op;
  std::vector<u32>& pcs = barrier.copy_pcs;
  if (std::find(pcs.begin(), pcs.end(), op.pc) == pcs.end()) pcs.push_back(op.pc);
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
  if (-barrier.missing_bytes() > Mbarrier::MAX_COUNT) {
    Finding finding = {Kind::BAD_ARGUMENT, barrier.last_copy.pc, 0, worker.block()};
    finding.name = barrier.last_copy.name;
    finding.other_name =
        "bytes, with which more than 1048575 have come that no phase expects; call expect_tx "
        "before";
    finding.number[0] = bytes;
    worker.mutable_findings().add(finding);
  }
  barrier.advance(worker);
  return stamp;
}

}  // namespace sim
