#include "global_race.h"

#include <algorithm>

#include "engine/worker.h"

namespace sim {

namespace {

// Keeps the two lowest of different clusters.
void keep(u64 (&lowest)[2], u64 use) {
  for (u64& kept : lowest) {
    if (use >> 32 == kept >> 32 && kept != CellUse::NONE) {
      kept = std::min(kept, use);
      return;
    }
    if (use < kept) std::swap(use, kept);
  }
}

}  // namespace

inline void CellUse::add(const GlobalCell& cell, u32 cluster) {
  const auto use = [&](const GlobalAccess& access) { return u64(cluster) << 32 | access.pc; };
  if (cell.write.stamp) keep(writer, use(cell.write));
  // Mostly memory is read by many clusters, the lowest first.
  if (reader[1] >> 32 < cluster) return;
  for (const GlobalAccess& read : cell.read)
    if (read.stamp) keep(reader, use(read));
}

void GridUse::add(u32 offset, GlobalTable::Page& used, u32 round, u32 cluster) {
  auto& page = uses_.at(offset);
  if (page.round != round_) {
    page = {};
    page.round = round_;
  }
  page.refine(used.shift);
  used.refine(page.shift);
  used.for_each_used([&](u32 i) {
    if (used.cells[i].round == round) page.cells[i].add(used.cells[i], cluster);
  });
}

void GridUse::end(const Launch& launch, Findings& findings) {
  const auto report = [&](Kind kind, u64 use, u64 other) {
    const u32 block = launch.block_of(std::min(use, other) >> 32, 0);
    Finding finding = {kind, u32(use), u32(other), block, 0};
    finding.number[0] = true;
    findings.add(finding);
  };
  uses_.for_each([&](u32, auto& page) {
    if (page.round != round_) return;
    for (const CellUse& use : page.cells) {
      if (use.writer[0] == CellUse::NONE) continue;
      if (use.writer[1] != CellUse::NONE)
        report(Kind::GLOBAL_WRITE_WRITE, use.writer[0], use.writer[1]);
      for (const u64 reader : use.reader)
        if (reader != CellUse::NONE && reader >> 32 != use.writer[0] >> 32) {
          report(Kind::GLOBAL_READ_WRITE, use.writer[0], reader);
          break;
        }
    }
  });
}

void GlobalRaceCheck::begin_launch(u32 threads, bool plain, GridUse* use, GridOrder* order,
                                   Findings& findings) {
  findings_ = &findings;
  threads_ = threads;
  use_ = use;
  order_ = order;
  table_ = order ? &order->table : &own_;
  table_->resize();
  calm_.assign(plain && !order ? arena.pages() * (Arena::PAGE / 4 + 16) : 0, 0);
  first_round_ = order ? order->round : own_round_ + 1;
  if (order) round_ = order->round;
}

void GlobalRaceCheck::begin(u64 cluster) {
  cluster_ = u32(cluster);
  first_ = cluster_ * threads_;
  touched_.clear();
  if (!order_) round_ = ++own_round_;
}

void GlobalRaceCheck::end() {
  if (order_) return;
  const std::lock_guard lock(use_->mutex);
  for (const u32 offset : touched_) use_->add(offset, own_.at(offset), round_, cluster_);
}

// The page of an access from `offset` to `end`, with cells that fit it.
inline GlobalTable::Page& GlobalRaceCheck::page_at(u32 offset, u32 end) {
  auto& page = table_->at(offset);
  if (page.round != round_) {
    if (page.round < first_round_ && page.shift != 2) page = {};
    page.round = round_;
    std::fill(std::begin(page.used), std::end(page.used), 0);
    touched_.push_back(offset & ~(Arena::PAGE - 1));
  }
  if (const u32 rest = (offset | end) & 3) page.refine(u32(__builtin_ctz(rest)));
  return page;
}

// The barrier since which a word is calm, 0 if it is not: its cells' writers are known to all, and
// two threads have read each since the barrier, one of which at least is not the next writer.
inline u32 GlobalRaceCheck::calm_since(const Fiber& fiber, GlobalTable::Page& page, u32 word) {
  const GlobalCell* cell = page.cell(word);
  for (const GlobalCell* const end = cell + (4 >> page.shift); cell != end; ++cell)
    if (cell->round != round_ || cell->write.stamp > fiber.synced ||
        cell->read[1].stamp <= fiber.synced)
      return 0;
  return fiber.synced;
}

template <class Visit>
inline void GlobalRaceCheck::for_each_cell(const Fiber& fiber, u32 offset, u32 bytes, Visit visit) {
  for (const u32 end = offset + bytes; offset < end;) {
    const u32 stop = std::min(end, (offset | (Arena::PAGE - 1)) + 1);
    auto& page = page_at(offset, stop);
    GlobalCell* cell = page.cell(offset);
    for (; offset < stop; offset += 1u << page.shift, ++cell) {
      if (cell->round != round_) {
        *cell = {round_, {}, {}};
        page.note_use(offset);
      }
      visit(*cell);
      if (!calm_.empty()) calm_[calm_at(offset)] = calm_since(fiber, page, offset & ~3u);
    }
  }
}

inline bool GlobalRaceCheck::knows(const Fiber& fiber, const GlobalAccess& access) const {
  if (!access.stamp) return true;
  const u32 slot = access.thread - first_;
  if (slot < threads_) return clocks_.knows(fiber, slot, access.stamp);
  const Beyond* beyond = clocks_.beyond(fiber);
  return beyond &&
         beyond->known.holds(access.thread / threads_, access.thread % threads_, access.stamp);
}

// A reader that this one knows of gives up its place. Else the newest takes the second place.
inline void GlobalRaceCheck::note_read(const Fiber& fiber, GlobalCell& cell, u32 pc) {
  const int place = knows(fiber, cell.read[0]) ? 0 : 1;
  cell.read[place] = {first_ + fiber.slot, fiber.stamp, pc};
}

void GlobalRaceCheck::read(const Fiber& fiber, u32 offset, u32 bytes, u32 pc, bool is_strong) {
  const u32 what = pc | (is_strong ? STRONG : 0);
  GlobalAccess raced;
  for_each_cell(fiber, offset, bytes, [&](GlobalCell& cell) {
    if (!both_strong(what, cell.write) && !knows(fiber, cell.write)) raced = cell.write;
    note_read(fiber, cell, what);
  });
  if (raced.stamp) report(Kind::GLOBAL_READ_WRITE, fiber, raced.pc, pc, raced);
}

void GlobalRaceCheck::write(const Fiber& fiber, u32 offset, u32 bytes, u32 pc, bool is_strong) {
  const u32 what = pc | (is_strong ? STRONG : 0);
  GlobalAccess writer, reader;
  for_each_cell(fiber, offset, bytes, [&](GlobalCell& cell) {
    if (!both_strong(what, cell.write) && !knows(fiber, cell.write)) writer = cell.write;
    for (const GlobalAccess& read : cell.read)
      if (!both_strong(what, read) && !knows(fiber, read)) reader = read;
    cell.write = {first_ + fiber.slot, fiber.stamp, what};
    cell.read[0] = cell.read[1] = {};
  });
  if (writer.stamp) report(Kind::GLOBAL_WRITE_WRITE, fiber, pc, writer.pc, writer);
  if (reader.stamp) report(Kind::GLOBAL_READ_WRITE, fiber, pc, reader.pc, reader);
}

void GlobalRaceCheck::see(Fiber& fiber, u32 offset) {
  const auto found = order_->passed_on.find(offset);
  if (found != order_->passed_on.end()) clocks_.see(fiber, found->second);
}

void GlobalRaceCheck::pass_on(Fiber& fiber, u32 offset, bool reads_too) {
  View& there = order_->passed_on[offset];
  if (!reads_too) there = View();
  if (const Beyond* beyond = clocks_.beyond(fiber)) there.join(beyond->published);
}

void GlobalRaceCheck::report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc,
                             const GlobalAccess& other) {
  Finding finding = {kind, pc & ~STRONG, other_pc & ~STRONG, fiber.worker->block(), fiber.index};
  const u32 slot = other.thread - first_;
  finding.number[0] = slot - fiber.first_slot >= fiber.worker->launch().threads();
  const Beyond* beyond = clocks_.beyond(fiber);
  finding.number[1] =
      slot >= threads_ && beyond &&
      beyond->seen.holds(other.thread / threads_, other.thread % threads_, other.stamp);
  findings_->add(finding);
}

}  // namespace sim
