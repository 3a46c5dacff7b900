#include "event.h"

#include <cstring>

namespace sim {

void LaneLog::grow() {
  std::unique_ptr<Event[]> larger(new Event[2 * size_t(capacity_)]);
  std::memcpy(larger.get(), begin_, capacity_ * sizeof(Event));
  grown_ = std::move(larger);
  begin_ = grown_.get();
  capacity_ *= 2;
}

WarpLog::WarpLog() : rooms_(new Event[WARP * STRIDE]) { reset(); }

bool WarpLog::is_large() const {
  for (const LaneLog& lane : lanes_)
    if (lane.is_large()) return true;
  return false;
}

void WarpLog::reset() {
  for (u32 lane = 0; lane < WARP; ++lane) {
    lanes_[lane] = LaneLog();
    lanes_[lane].use(&rooms_[lane * STRIDE]);
  }
}

}  // namespace sim
