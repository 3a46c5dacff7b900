// Programmatic dependent launch: which global memory the grids before have written, and which
// threads may use it. PTX ISA, "griddepcontrol".
#pragma once
#include <vector>

#include "engine/mechanism.h"
#include "memory/arena.h"
#include "order/clocks.h"

namespace sim {

// Of the launches since the last begin(), by places of global memory: which one wrote there last.
// A launch that is not dependent begins when all before it have ended, a dependent one need not.
class GridWrites {
 public:
  void begin();
  void begin_launch(bool dependent);
  // The grid that runs writes these bytes.
  void add(u32 offset, u32 width);
  // Whether a grid that need not have ended has written any of these bytes.
  bool holds(u32 offset, u32 width) const;

 private:
  static constexpr u32 UNIT = 2;  // bytes, those of the smallest element
  static constexpr size_t UNITS = Arena::BYTES / UNIT;

  u8* launch_of_ = nullptr;  // of each unit, 0: none
  u8 launch_ = 0, first_ = 0;
};

extern GridWrites grid_writes;

// The waits for the grids before, in one block.
class DependencyWaits : public Mechanism {
 public:
  void begin_block(Worker& worker) override;
  void add(const Fiber& fiber);
  // Whether the fiber has waited, or knows of a thread of its block that has.
  bool precede(const Fiber& fiber);

 private:
  struct Wait {
    u32 slot, stamp;
  };
  std::vector<Wait> waits_;
  std::vector<bool> has_waited_;  // by thread
};

}  // namespace sim
