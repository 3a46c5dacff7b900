// The log of one warp: what each lane accessed since the warp's accesses were last grouped.
#pragma once
#include <memory>
#include <vector>

#include "memory/types.h"

namespace sim {

// Eight bytes an access. High half: the address, as an offset in global or shared memory. Low half,
// "what": program counter, operation, log2 of the width. Lanes execute an instruction together if
// their low halves agree.
using Event = u64;

constexpr u32 PC_BITS = 25;

inline Event make_event(u32 pc, Op op, u32 log2_width, u32 offset) {
  return u64(offset) << 32 | pc << 7 | u32(op) << 3 | log2_width;
}
inline u32 what_of(Event event) { return u32(event); }
inline u32 address_of(Event event) { return u32(event >> 32); }
inline u32 pc_of(u32 what) { return what >> 7; }
inline Op op_of(u32 what) { return Op(what >> 3 & 15); }
inline u32 log2_width_of(u32 what) { return what & 7; }

// Room for a lane's events. A full lane pauses; the warp's events are then grouped and dropped if
// all lanes have done the same, and the room is doubled if they have not.
class LaneLog {
 public:
  static constexpr u32 ROOM = 512;
  static constexpr u32 LARGE = 1 << 18;

  void use(Event* first_room) { begin_ = first_room, capacity_ = ROOM; }
  Event* begin() const { return begin_; }
  Event* end() const { return begin_ + capacity_; }
  void grow();
  bool is_large() const { return capacity_ >= LARGE; }

 private:
  Event* begin_ = nullptr;
  u32 capacity_ = 0;
  std::unique_ptr<Event[]> grown_;
};

class WarpLog {
 public:
  WarpLog();
  LaneLog& lane(u32 lane) { return lanes_[lane]; }
  bool is_large() const;
  // Back to the first room, for the next warp.
  void reset();

 private:
  // A cache line between the lanes' rooms, so that reading them side by side uses all cache sets.
  static constexpr u32 STRIDE = LaneLog::ROOM + 8;
  std::unique_ptr<Event[]> rooms_;
  LaneLog lanes_[WARP];
};

}  // namespace sim
