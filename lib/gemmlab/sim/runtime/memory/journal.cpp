#include "journal.h"

#include <algorithm>

namespace sim {

namespace {

bool is_word(u32 what) { return op_of(what) == Op::MARK && log2_width_of(what) == LOG2_WORD; }

}  // namespace

void Journal::begin_block(u32 block, bool whole, bool values) {
  block_ = block;
  whole_ = whole;
  values_ = values;
  has_stored_ = false;
  if (whole) last_.assign(MAX_THREADS, {});
}

void Journal::clear() {
  rows_.clear();
  words_.clear();
  is_cut_ = false;
}

void Journal::add(const WarpEvents& events) {
  if (!whole_) return add_first_store(events);
  size_t count = 0;
  for (const LaneEvents& lane : events.lane) count += lane.size();
  // All lanes end at the same place: what a part of them did next would look like a branch.
  is_cut_ |= rows_.size() + count > MOST;
  if (is_cut_) return;
  for (u32 lane = 0; lane < WARP; ++lane) {
    const u32 thread = events.warp * WARP + lane;
    for (const Event* at = events.lane[lane].begin; at != events.lane[lane].end; ++at)
      if (is_word(what_of(*at)))
        add_word(address_of(*at), thread);
      else
        add_row(*at, thread);
  }
}

void Journal::add_first_store(const WarpEvents& events) {
  for (u32 lane = 0; lane < WARP && !has_stored_; ++lane)
    for (const Event* at = events.lane[lane].begin; at != events.lane[lane].end; ++at) {
      if (op_of(what_of(*at)) != Op::STORE_GLOBAL) continue;
      has_stored_ = true;
      return add_row(*at, events.warp * WARP + lane);
    }
}

void Journal::add_row(const Event& event, u32 thread) {
  const u32 what = what_of(event), address = address_of(event);
  JournalRow row = {block_,
                    address,
                    pc_of(what),
                    JournalRow::NO_VALUE,
                    u16(thread),
                    u8(op_of(what)),
                    u8(1u << log2_width_of(what))};
  if (op_of(what) == Op::MARK) {
    row.kind = u8(row.kind + (address >> 24));
    row.address = address & 0xffffff;
    row.width = 0;
  }
  if (whole_) last_[thread] = {u32(rows_.size()), 0};
  rows_.push_back(row);
}

void Journal::add_word(u32 word, u32 thread) {
  Last& last = last_[thread];
  JournalRow& row = rows_[last.row];
  if (row.value == JournalRow::NO_VALUE) {
    row.value = u32(words_.size());
    // The other words may come after those of other threads.
    words_.resize(words_.size() + (row.width ? (row.width + 3) / 4 : JournalRow::WORDS));
  }
  words_[row.value + last.words++] = word;
  if (row.kind >= u32(Op::MARK)) row.width = u8(4 * last.words);
}

void Journal::take(Journal& other) {
  if (rows_.empty()) {
    std::swap(rows_, other.rows_);
    std::swap(words_, other.words_);
  }
  const u32 words = u32(words_.size());
  for (JournalRow row : other.rows_) {
    if (row.value != JournalRow::NO_VALUE) row.value += words;
    rows_.push_back(row);
  }
  words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  is_cut_ |= other.is_cut_;
  other.clear();
}

void Journal::copy(JournalRow* rows, u32* words) const {
  std::copy(rows_.begin(), rows_.end(), rows);
  std::copy(words_.begin(), words_.end(), words);
}

}  // namespace sim
