#include "race.h"

#include <algorithm>
#include <cstring>

namespace sim {

void RaceCheck::begin_launch(u32 shared_bytes, u32 threads, Findings& findings) {
  findings_ = &findings;
  bytes_ = shared_bytes;
  threads_ = threads;
  clocks_.clear();
  now_ = 1;
  cells_.assign(bytes_ / 4 + 1, Cell());
}

void RaceCheck::begin_block(u32 block, Fiber* fibers, u32 threads) {
  block_ = block;
  marked_ = false;
  if (shift_ != 2) {
    shift_ = 2;
    cells_.assign(bytes_ / 4 + 1, Cell());
  }
  start_ = now_++;
  barrier_ = start_;
  for (u32 t = 0; t < threads; ++t) fibers[t].stamp = now_, fibers[t].clock = nullptr;
}

void RaceCheck::barrier(Fiber* fibers, u32 threads) {
  barrier_ = now_++;
  for (u32 t = 0; t < threads; ++t) fibers[t].stamp = now_, fibers[t].clock = nullptr;
}

u32* RaceCheck::clock_of(Fiber& fiber) {
  if (clocks_.empty()) clocks_.resize(size_t(threads_) * threads_);
  u32* row = &clocks_[size_t(fiber.index) * threads_];
  if (!fiber.clock) std::fill(row, row + threads_, 0);
  return fiber.clock = row;
}

void RaceCheck::join(Fiber* lanes, u32 mask) {
  joined_.assign(threads_, 0);
  for (u32 n = 0; n < WARP; ++n) {
    if (!(mask >> n & 1)) continue;
    const u32* clock = clock_of(lanes[n]);
    for (u32 t = 0; t < threads_; ++t) joined_[t] = std::max(joined_[t], clock[t]);
    joined_[lanes[n].index] = lanes[n].stamp;
  }
  ++now_;
  for (u32 n = 0; n < WARP; ++n) {
    if (!(mask >> n & 1)) continue;
    std::copy(joined_.begin(), joined_.end(), lanes[n].clock);
    lanes[n].stamp = now_;
  }
}

// Cells have four bytes until a narrower access comes: every access so far covered whole cells, so
// each of the halves has the history of the whole.
void RaceCheck::refine(u32 shift) {
  const u32 copies = 1u << (shift_ - shift);
  std::vector<Cell> finer;
  finer.reserve(cells_.size() * copies);
  for (const Cell& cell : cells_) finer.insert(finer.end(), copies, cell);
  cells_.swap(finer);
  shift_ = shift;
}

inline RaceCheck::Cell* RaceCheck::cells(u32 offset, u32 width, Cell*& end) {
  if (width < 1u << shift_) refine(u32(__builtin_ctz(width)));
  end = &cells_[(offset + width - 1) >> shift_] + 1;
  return &cells_[offset >> shift_];
}

void RaceCheck::read(const Fiber& fiber, u32 offset, u32 width, u32 pc) {
  Cell* end;
  const Cell* raced = nullptr;
  for (Cell* cell = cells(offset, width, end); cell != end; ++cell) {
    if (cell->write.stamp <= start_)
      mark_uninitialised(*cell, pc);
    else if (!knows(fiber, cell->writer, cell->write.stamp))
      raced = cell;
    note_read(fiber, *cell, pc);
  }
  if (raced) report(Kind::RACE_READ_WRITE, fiber, raced->write.pc, pc);
}

inline void RaceCheck::note_read(const Fiber& fiber, Cell& cell, u32 pc) {
  const u32 warp = fiber.index / WARP;
  const bool current = cell.read[1].stamp > barrier_;
  const u32 warps[2] = {cell.reader[0] / WARP, cell.reader[1] / WARP};
  // The usual case: two readers are known already and this one adds nothing.
  if (current && !fiber.clock && (warps[0] != warps[1] || warps[0] == warp)) return;
  int slot = -1;
  for (int i = 0; i < 2 && slot < 0; ++i)
    if (knows(fiber, cell.reader[i], cell.read[i].stamp)) slot = i;
  if (slot < 0 && warps[0] == warps[1] && warps[0] != warp) slot = 1;
  if (slot < 0) return;
  cell.read[slot] = {fiber.stamp, pc};
  cell.reader[slot] = u16(fiber.index);
}

// A read of what nobody has written yet. If another thread writes it without waiting, it was a
// race; else it was uninitialised, and that is known only later. Until then the write slot,
// otherwise unused, keeps the reader's pc with the stamp of the block's start.
inline void RaceCheck::mark_uninitialised(Cell& cell, u32 pc) {
  if (cell.write.stamp == start_) return;
  cell.write = {start_, pc};
  marked_ = true;
}

// The pc of a read that the fiber has not waited for, or 0.
inline u32 RaceCheck::racing_reader(const Fiber& fiber, const Cell& cell) const {
  for (int i = 0; i < 2; ++i)
    if (!knows(fiber, cell.reader[i], cell.read[i].stamp)) return cell.read[i].pc;
  return 0;
}

// One report of a kind for one access, however many cells it has.
void RaceCheck::write_cells(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_atomic) {
  u32 other_writer = 0, other_reader = 0, uninitialised = 0;
  Cell* end;
  for (Cell* cell = cells(offset, width, end); cell != end; ++cell) {
    const u32 reader = racing_reader(fiber, *cell);
    if (reader)
      other_reader = reader;
    else if (cell->write.stamp == start_)
      uninitialised = cell->write.pc;
    const bool both_atomic = is_atomic && cell->is_atomic;
    if (!both_atomic && cell->write.stamp > start_ &&
        !knows(fiber, cell->writer, cell->write.stamp))
      other_writer = cell->write.pc;
    cell->write = {fiber.stamp, pc};
    cell->writer = u16(fiber.index);
    cell->is_atomic = is_atomic;
    cell->read[0].stamp = cell->read[1].stamp = 0;
  }
  if (other_writer) report(Kind::RACE_WRITE_WRITE, fiber, pc, other_writer);
  if (other_reader) report(Kind::RACE_READ_WRITE, fiber, pc, other_reader);
  if (uninitialised) report(Kind::UNINITIALISED_READ, fiber, uninitialised, 0);
}

void RaceCheck::write(const Fiber& fiber, u32 offset, u32 width, u32 pc) {
  write_cells(fiber, offset, width, pc, false);
}

void RaceCheck::atomic(const Fiber& fiber, u32 offset, u32 width, u32 pc) {
  Cell* end;
  for (Cell* cell = cells(offset, width, end); cell != end; ++cell)
    if (cell->write.stamp <= start_) mark_uninitialised(*cell, pc);
  write_cells(fiber, offset, width, pc, true);
}

void RaceCheck::end_block() {
  if (!marked_) return;
  for (const Cell& cell : cells_)
    if (cell.write.stamp == start_)
      findings_->add({Kind::UNINITIALISED_READ, cell.write.pc, 0, block_, 0});
}

void RaceCheck::report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc) {
  findings_->add({kind, pc, other_pc, block_, fiber.index});
}

}  // namespace sim
