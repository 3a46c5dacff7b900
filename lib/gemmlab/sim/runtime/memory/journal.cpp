#include "journal.h"

namespace sim {

void Journal::begin_block(u32 block, bool whole, bool values) {
  block_ = block;
  whole_ = whole;
  values_ = values;
  has_stored_ = false;
}

void Journal::add(const WarpEvents& events) {
  if (!whole_ && has_stored_) return;
  for (u32 lane = 0; lane < WARP; ++lane)
    for (const Event* at = events.lane[lane].begin; at != events.lane[lane].end; ++at) {
      const bool stores = op_of(what_of(*at)) == Op::STORE_GLOBAL;
      if (!whole_ && (!stores || has_stored_)) continue;
      has_stored_ |= stores;
      add(*at, events.warp * WARP + lane);
    }
}

void Journal::add(const Event& event, u32 thread) {
  if (rows_.size() == MOST) return;
  const u32 what = what_of(event);
  rows_.push_back({block_, thread, pc_of(what), u32(op_of(what)), 1u << log2_width_of(what),
                   address_of(event)});
}

void Journal::add(const Journal& other) {
  rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
}

}  // namespace sim
