#include "cp_async.h"

#include <cstring>

#include "../../include/gemmlab_sim/abi_copy.h"
#include "memory/access.h"

namespace sim {

namespace {

[[noreturn]] void refuse_copy(Fiber& fiber, Kind kind, u32 bytes, u32 source_bytes, u32 pc) {
  Finding finding = {kind, pc};
  finding.number[0] = bytes;
  finding.number[1] = int(source_bytes);
  finding.name = CpAsync::NAME;
  fiber.worker->abandon(fiber, finding);
}

// Bounds and alignment of what the copy reads; the offset in global memory.
u32 check_source(Fiber& fiber, const void* from, u32 bytes, u32 source_bytes, u32 pc) {
  const size_t offset = arena.offset_of(reinterpret_cast<uintptr_t>(from));
  if (offset >= Arena::BYTES) refuse_copy(fiber, Kind::COPY_SOURCE, bytes, source_bytes, pc);
  if (offset % bytes) refuse_misaligned(fiber, u32(offset), bytes, Access::READ, pc);
  if (!arena.holds(u32(offset), source_bytes))
    refuse_global(fiber, u32(offset), source_bytes, Access::READ, pc);
  return u32(offset);
}

// A request to global and one to shared memory. The former has all lanes, so that they stay in
// step.
void record_copy(Fiber& fiber, const CpAsync::Copy& copy, bool reads, u32 from, SimCopyPath path) {
  constexpr Op OPS[] = {Op::COPY_TO_SHARED, Op::COPY_PAST_L1, Op::COPY_PAST_L1_FILLED};
  const u32 log2_bytes = u32(__builtin_ctz(copy.bytes));
  const u32 source = reads ? from : RequestCounter::NO_SOURCE;
  record(fiber, make_event(copy.pc, Op::COPY_FROM_GLOBAL, log2_bytes, source));
  record(fiber, make_event(copy.pc, OPS[path], log2_bytes, copy.to));
  if (!fiber.worker->journal().has_values()) return;
  char data[16] = {};
  if (reads) std::memcpy(data, copy.from, copy.source_bytes);
  keep_value(fiber, data, copy.bytes, copy.pc);
}

}  // namespace

void CpAsync::begin_block(Worker& worker) {
  threads_.resize(MAX_THREADS);
  for (u32 t = 0; t < worker.launch().threads(); ++t) {
    threads_[t].copies.clear();
    threads_[t].groups.clear();
    threads_[t].committed = 0;
    threads_[t].arrived.clear();
    threads_[t].left = 0;
    threads_[t].by_barrier = false;
  }
}

// PTX does not forbid to end with unfinished copies. But nobody can have used what they bring: they
// are useless, or a wait is missing.
void CpAsync::end_block(Worker& worker) {
  for (u32 t = 0; t < worker.launch().threads(); ++t) {
    Queue<Copy>& copies = threads_[t].copies;
    for (u32 i = copies.first(); i != copies.end(); ++i) {
      Finding finding = {Kind::UNFINISHED, copies[i].pc, 0, worker.block(), t};
      finding.name = NAME;
      finding.number[0] = !threads_[t].by_barrier && int(i - threads_[t].committed) >= 0;
      finding.number[1] = threads_[t].left;
      worker.mutable_findings().add(finding);
    }
  }
}

void CpAsync::issue(Fiber& fiber, const Copy& copy) {
  Queue<Copy>& copies = threads_[fiber.index].copies;
  if (copies.size() == MOST_UNFINISHED) finish(fiber, copies.first() + 1);
  if (fiber.worker->launch().traced)
    fiber.worker->races().begin_write(fiber, {NAME, copy.pc, false}, copy.to, copy.bytes);
  copies.push(copy);
}

bool CpAsync::is_ungrouped(const Fiber& fiber, u32 pc) {
  Thread& thread = threads_[fiber.index];
  if (thread.by_barrier) return false;
  u32 i = thread.copies.first();
  if (int(thread.committed - i) > 0) i = thread.committed;
  for (; i != thread.copies.end(); ++i)
    if (thread.copies[i].pc == pc) return true;
  return false;
}

void CpAsync::commit(Fiber& fiber) {
  Thread& thread = threads_[fiber.index];
  if (thread.groups.size() == MOST_UNFINISHED) finish_but(fiber, MOST_UNFINISHED - 1);
  thread.committed = thread.copies.end();
  thread.groups.push(thread.committed);
}

void CpAsync::wait(Fiber& fiber, u32 newest) {
  threads_[fiber.index].left = newest;
  finish_but(fiber, newest);
}

void CpAsync::finish_but(Fiber& fiber, u32 newest) {
  Thread& thread = threads_[fiber.index];
  while (thread.groups.size() > newest) finish(fiber, thread.groups.pop());
}

void CpAsync::wait_all(Fiber& fiber) {
  commit(fiber);
  wait(fiber, 0);
}

void CpAsync::finish(Fiber& fiber, u32 end) {
  write(fiber, end, fiber.slot, fiber.stamp);
  Queue<Arrived>& arrived = threads_[fiber.index].arrived;
  while (arrived.size() && int(end - arrived[arrived.first()].first) > 0) {
    const Arrived known = arrived.pop();
    fiber.worker->clocks().learn(fiber, known.slot, known.stamp);
  }
}

void CpAsync::write(Fiber& fiber, u32 end, u32 slot, u32 stamp) {
  Worker& worker = *fiber.worker;
  Queue<Copy>& copies = threads_[fiber.index].copies;
  while (int(end - copies.first()) > 0) {
    const Copy copy = copies.pop();
    char data[16] = {};
    if (copy.source_bytes) std::memcpy(data, copy.from, copy.source_bytes);
    std::memcpy(worker.shared().at(copy.to), data, copy.bytes);
    if (worker.launch().traced)
      worker.races().end_write(fiber, {NAME, copy.pc, false}, slot, stamp, copy.to, copy.bytes);
  }
}

void CpAsync::arrive_later(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op) {
  Worker& worker = *fiber.worker;
  if (worker.launch().traced && !barrier.agent) barrier.agent = worker.clocks().new_agent();
  worker.state<Mbarriers>().has_untold_order = true;
  const u32 end = threads_[fiber.index].copies.end();
  threads_[fiber.index].by_barrier = true;
  worker.cluster().copies.push_back(
      [this, &fiber, end, &barrier, op] { arrive(fiber, end, barrier, op); });
}

// The arrival lets the waiting threads know of the copies, not of what their thread did otherwise.
// Called by the scheduler.
void CpAsync::arrive(Fiber& fiber, u32 end, Mbarrier& barrier, const AsyncOp& op) {
  Worker& worker = *fiber.worker;
  Thread& thread = threads_[fiber.index];
  if (worker.launch().traced) {
    const u32 stamp = worker.clocks().new_stamp();
    if (thread.arrived.size() == MOST_UNFINISHED) thread.arrived.pop();
    if (end != thread.copies.first())
      thread.arrived.push({thread.copies.first(), barrier.agent, stamp});
    write(fiber, end, barrier.agent, stamp);
    barrier.arriving[barrier.agent] = stamp;
  } else {
    write(fiber, end, 0, 0);
  }
  if (!barrier.is_valid) return;
  if (!barrier.pending) {
    worker.mutable_findings().add(barrier.overrun(fiber, op));
    return;
  }
  barrier.note_arrival(fiber);
  --barrier.pending;
  barrier.advance(worker);
}

}  // namespace sim

extern "C" void sim_cp_async(uint32_t to, const void* from, unsigned bytes, unsigned source_bytes,
                             SimCopyPath path) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  if ((bytes != 4 && bytes != 8 && bytes != 16) || source_bytes > bytes)
    sim::refuse_copy(fiber, sim::Kind::COPY_SIZE, bytes, source_bytes, pc);
  const sim::u32 offset = sim::check_shared_address(fiber, to, bytes, sim::Access::WRITE, pc);
  const sim::CpAsync::Copy copy = {offset, bytes, pc, from, source_bytes};
  sim::u32 source = 0;
  if (source_bytes) {
    source = sim::check_source(fiber, from, bytes, source_bytes, pc);
    if (fiber.worker->launch().traced)
      sim::check_use(fiber, source, source_bytes, sim::Access::READ, pc);
  }
  fiber.worker->state<sim::CpAsync>().issue(fiber, copy);
  if (!fiber.worker->launch().traced) return;
  if (source_bytes) fiber.worker->globals().read(fiber, source, source_bytes, pc);
  sim::record_copy(fiber, copy, source_bytes, source, path);
}

extern "C" void sim_cp_async_commit() {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::mark(fiber, fiber.pc_of(__builtin_return_address(0)), sim::Mark::COMMIT);
  fiber.worker->state<sim::CpAsync>().commit(fiber);
}

extern "C" void sim_cp_async_wait(unsigned newest) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::mark(fiber, fiber.pc_of(__builtin_return_address(0)), sim::Mark::WAIT, newest);
  fiber.worker->state<sim::CpAsync>().wait(fiber, newest);
}

extern "C" void sim_cp_async_wait_all() {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::mark(fiber, fiber.pc_of(__builtin_return_address(0)), sim::Mark::WAIT);
  fiber.worker->state<sim::CpAsync>().wait_all(fiber);
}

extern "C" void sim_cp_async_mbarrier_arrive(uint32_t barrier) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {"cp_async_mbarrier_arrive_noinc",
                           fiber.pc_of(__builtin_return_address(0)), false};
  fiber.worker->state<sim::CpAsync>().arrive_later(fiber, sim::use_mbarrier(fiber, op, barrier),
                                                   op);
}

extern "C" void sim_cp_async_mbarrier_arrive_counted(uint32_t barrier) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::AsyncOp op = {"cp_async_mbarrier_arrive", fiber.pc_of(__builtin_return_address(0)),
                           false};
  sim::Mbarrier& counted = sim::use_mbarrier(fiber, op, barrier);
  ++counted.pending;
  fiber.worker->state<sim::CpAsync>().arrive_later(fiber, counted, op);
}
