#include "shared_race.h"

#include <algorithm>

#include "engine/worker.h"

namespace sim {

void RaceCheck::begin_launch(u32 shared_bytes, u32 ranks, u32 threads, bool plain,
                             Findings& findings) {
  findings_ = &findings;
  plain_ = plain;
  bytes_ = shared_bytes;
  ranks_ = ranks;
  clocks_.begin_launch(ranks, threads);
  agent_names_.assign(Clocks::AGENTS, "an asynchronous copy");
  cells_.assign(ranks_ * bytes_ / 4 + 1, Cell());
  calm_.assign(cells_.size(), 0);
  pending_.clear();
  shift_ = 2;
}

void RaceCheck::begin() {
  clocks_.begin();
  passed_on_.clear();
  marked_ = false;
  if (shift_ == 2 && pending_.empty()) return;
  shift_ = 2;
  cells_.assign(ranks_ * bytes_ / 4 + 1, Cell());
  calm_.assign(cells_.size(), 0);
  pending_.clear();
}

// Cells have four bytes until a narrower access comes: every access so far covered whole cells, so
// each of the halves has the history of the whole.
void RaceCheck::refine(u32 shift) {
  const u32 copies = 1u << (shift_ - shift);
  const auto split = [copies](auto& coarse) {
    std::remove_reference_t<decltype(coarse)> finer;
    finer.reserve(coarse.size() * copies);
    for (const auto& cell : coarse) finer.insert(finer.end(), copies, cell);
    coarse.swap(finer);
  };
  split(cells_);
  calm_.assign(cells_.size(), 0);
  split(pending_);
  shift_ = shift;
}

void RaceCheck::read(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_strong) {
  Cell* end;
  const Cell* raced = nullptr;
  bool is_pending = false;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    if (cell->flags & PENDING && !is_pending) is_pending = touches_pending(fiber, *cell, false, pc);
    if (is_pending) continue;
    if (!is_written(*cell))
      mark_uninitialised(*cell, pc);
    else if (!knows_write(fiber, *cell) &&
             !(is_strong && is_flag(fiber, cell->writer, cell->flags & (STRONG | ATOMIC))))
      raced = cell;
    if (!is_strong) cell->flags &= u16(~STRONG_READS);
    note_read(fiber, fiber.slot, fiber.stamp, *cell, pc);
    if (plain_ && is_written(*cell) && cell->write.stamp <= fiber.synced &&
        cell->read[1].stamp > fiber.synced)
      calm_[size_t(cell - cells_.data())] = fiber.synced;
  }
  if (raced) report_unordered_read(fiber, *raced, pc);
}

void RaceCheck::report_unordered_read(const Fiber& fiber, const Cell& cell, u32 pc) {
  if (clocks_.is_agent(cell.writer))
    report(Kind::READ_BEFORE_WAIT, fiber, pc, cell.write.pc, agent_name(cell.writer));
  else if (clocks_.knows(fiber, cell.writer, cell.write.stamp))
    report(Kind::REMOTE_UNRELEASED, fiber, pc, cell.write.pc);
  else {
    Finding finding = {Kind::RACE_READ_WRITE, cell.write.pc, pc, fiber.worker->block(),
                       fiber.index};
    finding.number[0] = fiber.worker->globals().has_seen(fiber, cell.writer, cell.write.stamp);
    findings_->add(finding);
  }
}

// A reader that this one knows of gives up its place. Else the newest takes the second place, so
// that the first and the last reader are known, if possible of different warps.
inline void RaceCheck::note_read(const Fiber& knower, u32 slot, u32 stamp, Cell& cell, u32 pc) {
  // The usual case: two readers since the last barrier, and nothing but barriers puts in order.
  const bool both_count = cell.read[1].stamp > knower.synced && !knower.clock;
  int place = -1;
  for (int i = 0; i < 2 && place < 0 && !both_count; ++i)
    if (clocks_.knows(knower, cell.reader[i], cell.read[i].stamp)) place = i;
  if (place < 0) {
    const u32 first = cell.reader[0] / WARP, second = cell.reader[1] / WARP;
    if (slot / WARP == first && second != first) return;
    place = 1;
  }
  cell.read[place] = {stamp, pc};
  cell.reader[place] = u16(slot);
}

// A read of what nobody has written yet. If another thread writes it without waiting, it was a
// race; else it was uninitialised, and that is known only later. Until then the write slot,
// otherwise unused, keeps the reader's pc with the stamp of the block's start.
inline void RaceCheck::mark_uninitialised(Cell& cell, u32 pc) {
  if (cell.write.stamp == clocks_.start()) return;
  cell.write = {clocks_.start(), pc};
  marked_ = true;
}

// Which of the two reads the fiber has not waited for, or -1.
inline int RaceCheck::racing_reader(const Fiber& fiber, const Cell& cell) const {
  for (int i = 0; i < 2; ++i)
    if (!clocks_.knows(fiber, cell.reader[i], cell.read[i].stamp)) return i;
  return -1;
}

// One report of a kind for one access, however many cells it has.
void RaceCheck::write_cells(const Fiber& fiber, u32 offset, u32 width, u32 pc, u16 how) {
  u32 other_writer = 0, agent = 0, other_reader = 0, reader = 0, uninitialised = 0;
  bool is_pending = false;
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell) {
    if (cell->flags & PENDING && !is_pending) is_pending = touches_pending(fiber, *cell, true, pc);
    if (is_pending) continue;
    const int racing = racing_reader(fiber, *cell);
    const bool by_flag =
        racing >= 0 && cell->flags & STRONG_READS && is_flag(fiber, cell->reader[racing], how);
    if (racing >= 0 && !by_flag)
      other_reader = cell->read[racing].pc, reader = cell->reader[racing];
    else if (racing < 0 && cell->write.stamp == clocks_.start())
      uninitialised = cell->write.pc;
    const bool are_alike = how & cell->flags;
    if (!are_alike && is_written(*cell) && !knows_write(fiber, *cell))
      other_writer = cell->write.pc, agent = cell->writer;
    cell->write = {fiber.stamp, pc};
    cell->writer = u16(fiber.slot);
    cell->flags = u16((cell->flags & PENDING) | STRONG_READS | how);
    cell->read[0].stamp = cell->read[1].stamp = 0;
  }
  if (other_writer && clocks_.is_agent(agent))
    report(Kind::WRITE_BEFORE_WAIT, fiber, pc, other_writer, agent_name(agent));
  else if (other_writer)
    report(Kind::RACE_WRITE_WRITE, fiber, pc, other_writer);
  if (other_reader && clocks_.is_agent(reader))
    report(Kind::OVERWRITTEN_WHILE_READ, fiber, pc, other_reader, agent_name(reader));
  else if (other_reader)
    report(Kind::RACE_READ_WRITE, fiber, pc, other_reader);
  if (uninitialised) report(Kind::UNINITIALISED_READ, fiber, uninitialised, 0);
}

void RaceCheck::write(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_strong) {
  write_cells(fiber, offset, width, pc, is_strong && clocks_.beyond(fiber) ? STRONG : 0);
}

void RaceCheck::atomic(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool reads) {
  Cell* end;
  for (Cell* cell = cells(fiber, offset, width, end); cell != end; ++cell)
    if (reads && !is_written(*cell)) mark_uninitialised(*cell, pc);
  write_cells(fiber, offset, width, pc, ATOMIC);
}

void RaceCheck::pass_along(Fiber& fiber, u32 offset, bool reads, bool writes) {
  const u32 place = rank_of(offset, fiber.rank) * bytes_ + offset_in_block(offset);
  const auto found = reads ? passed_on_.find(place) : passed_on_.end();
  if (found != passed_on_.end()) clocks_.see(fiber, found->second);
  const Beyond* beyond = writes ? clocks_.beyond(fiber) : nullptr;
  if (!reads && writes && !passed_on_.empty()) passed_on_.erase(place);
  if (beyond) passed_on_[place].join(beyond->published);
}

void RaceCheck::forget_calm() {
  if (plain_) std::fill(calm_.begin(), calm_.end(), 0);
  plain_ = false;
}

void RaceCheck::end_block(const Fiber* fibers, u32 threads) {
  if (ranks_ == 1) return;
  const u32 first = fibers->rank * bytes_ >> shift_, count = bytes_ >> shift_;
  const auto known = [&](u32 slot, u32 stamp) {
    return clocks_.is_agent(slot) || std::any_of(fibers, fibers + threads, [&](const Fiber& fiber) {
             return clocks_.knows(fiber, slot, stamp);
           });
  };
  for (const Cell* cell = &cells_[first]; cell != &cells_[first] + count; ++cell) {
    if (is_written(*cell) && !known(cell->writer, cell->write.stamp))
      report(Kind::REMOTE_AFTER_EXIT, *fibers, cell->write.pc, 0);
    for (int i = 0; i < 2; ++i)
      if (!known(cell->reader[i], cell->read[i].stamp))
        report(Kind::REMOTE_AFTER_EXIT, *fibers, cell->read[i].pc, 0);
  }
}

void RaceCheck::end(u32 block) {
  if (!marked_) return;
  for (const Cell& cell : cells_)
    if (cell.write.stamp == clocks_.start())
      findings_->add({Kind::UNINITIALISED_READ, cell.write.pc, 0, block, 0});
}

void RaceCheck::report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc, const char* name) {
  Finding finding = {kind, pc, other_pc, fiber.worker->block(), fiber.index};
  finding.name = name;
  findings_->add(finding);
}

}  // namespace sim
