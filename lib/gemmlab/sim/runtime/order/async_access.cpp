// The memory that asynchronous operations have in hand (shared_race.h).
#include "engine/worker.h"
#include "operations/cp_async.h"

namespace sim {

const char*& RaceCheck::agent_name(u32 slot) {
  return agent_names_[slot - (clocks_.slots() - Clocks::AGENTS)];
}

RaceCheck::Pending& RaceCheck::pending(const Cell* cell) {
  if (pending_.empty()) pending_.resize(cells_.size());
  return pending_[size_t(cell - cells_.data())];
}

// Reports the access if an unfinished operation is in its way. Returns whether it was.
bool RaceCheck::touches_pending(const Fiber& fiber, const Cell& cell, bool is_write, u32 pc) {
  const Pending& now = pending(&cell);
  if (now.writes && is_write)
    report(Kind::WRITE_BEFORE_WAIT, fiber, pc, now.write.pc, now.write.name);
  else if (now.writes)
    report_early_read(fiber, now.write, pc);
  else if (is_write && now.reads)
    report(Kind::OVERWRITTEN_WHILE_READ, fiber, pc, now.read.pc, now.read.name);
  else if (now.is_object)
    report(Kind::MBARRIER_TOUCHED, fiber, pc, now.object.pc, now.object.name);
  else
    return false;
  return true;
}

// A copy of the thread itself that no commit has put into a group is not waited for by any wait.
void RaceCheck::report_early_read(const Fiber& fiber, const AsyncOp& op, u32 pc) {
  Finding finding = {Kind::READ_BEFORE_WAIT, pc, op.pc, fiber.worker->block(), fiber.index};
  finding.name = op.name;
  if (op.name == CpAsync::NAME)
    finding.number[2] = fiber.worker->state<CpAsync>().is_ungrouped(fiber, op.pc);
  findings_->add(finding);
}

// From its start to its end the operation may write at any moment, so all earlier users must have
// been waited for at its start.
void RaceCheck::begin_write(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width) {
  u32 reader = 0, writer = 0, unfenced = 0;
  bool is_pending = false;
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    if (cell->flags & PENDING && !is_pending)
      is_pending = touches_pending(fiber, *cell, true, op.pc);
    const int racing = racing_reader(fiber, *cell);
    if (racing >= 0) reader = cell->read[racing].pc;
    if (is_written(*cell) && !knows_write(fiber, *cell)) writer = cell->write.pc;
    if (op.by_async_proxy && is_unfenced(fiber, *cell)) unfenced = cell->write.pc;
    Pending& now = pending(cell);
    now.write = op;
    ++now.writes;
    cell->flags |= PENDING;
  }
  // A copy of the generic proxy is a write of its thread, and is found as that where its end comes
  // first: one mistake, one finding.
  if (!op.by_async_proxy) {
    if (reader) report(Kind::RACE_READ_WRITE, fiber, op.pc, reader);
    if (writer) report(Kind::RACE_WRITE_WRITE, fiber, op.pc, writer);
  } else if (reader || writer) {
    report(Kind::COPY_OVERWRITES, fiber, op.pc, writer ? writer : reader, op.name);
  } else if (unfenced) {
    report(Kind::MISSING_PROXY_FENCE, fiber, op.pc, unfenced, op.name);
  }
}

void RaceCheck::end_write(const Fiber& fiber, const AsyncOp& op, u32 slot, u32 stamp, u32 offset,
                          u32 width) {
  if (clocks_.is_agent(slot)) agent_name(slot) = op.name;
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    cell->write = {stamp, op.pc};
    cell->writer = u16(slot);
    cell->read[0].stamp = cell->read[1].stamp = 0;
    --pending(cell).writes;
    settle(*cell);
  }
}

void RaceCheck::begin_read(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width) {
  const Cell* raced = nullptr;
  u32 unfenced = 0;
  bool is_pending = false;
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    if (cell->flags & PENDING && !is_pending)
      is_pending = touches_pending(fiber, *cell, false, op.pc);
    if (is_pending)
      ;  // reported
    else if (!is_written(*cell))
      mark_uninitialised(*cell, op.pc);
    else if (!knows_write(fiber, *cell))
      raced = cell;
    else if (op.by_async_proxy && is_unfenced(fiber, *cell))
      unfenced = cell->write.pc;
    Pending& now = pending(cell);
    now.read = op;
    ++now.reads;
    cell->flags |= PENDING;
  }
  if (raced) report_unordered_read(fiber, *raced, op.pc);
  if (unfenced) report(Kind::MISSING_PROXY_FENCE, fiber, op.pc, unfenced, op.name);
}

void RaceCheck::end_read(const AsyncOp& op, const Fiber& waiter, u32 slot, u32 stamp, u32 offset,
                         u32 width) {
  if (clocks_.is_agent(slot)) agent_name(slot) = op.name;
  Cell* end;
  for (Cell* cell = cells(waiter, offset, width, end); cell != end; ++cell) {
    note_read(waiter, slot, stamp, *cell, op.pc);
    --pending(cell).reads;
    settle(*cell);
  }
}

// Whether the cell was last written by a load/store instruction, and no proxy fence has come since.
bool RaceCheck::is_unfenced(const Fiber& fiber, const Cell& cell) const {
  return is_written(cell) && !clocks_.is_agent(cell.writer) &&
         !clocks_.is_fenced(fiber, cell.writer, cell.write.stamp);
}

void RaceCheck::begin_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width) {
  write(fiber, offset, width, op.pc);
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    Pending& now = pending(cell);
    now.object = op;
    now.is_object = true;
    cell->flags |= PENDING;
  }
}

void RaceCheck::end_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width) {
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    pending(cell).is_object = false;
    settle(*cell);
  }
  write(fiber, offset, width, op.pc);
}

void RaceCheck::use_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width) {
  const Cell* unknown = nullptr;
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    if (!knows_write(fiber, *cell)) unknown = cell;
    note_read(fiber, fiber.slot, fiber.stamp, *cell, op.pc);
  }
  if (unknown) report(Kind::MBARRIER_UNORDERED, fiber, op.pc, unknown->write.pc, op.name);
}

void RaceCheck::settle(Cell& cell) {
  const Pending& now = pending(&cell);
  if (!now.writes && !now.reads && !now.is_object) cell.flags &= u16(~PENDING);
}

}  // namespace sim
