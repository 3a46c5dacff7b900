// One reservation holds the stacks of all fibers of all workers. The stack that a memory hook runs
// on then names its fiber by arithmetic: no thread_local look-up on the hot path, and code that
// runs on any other stack (the host's part of a launch) is seen to be no fiber at all.
#pragma once
#include "memory/types.h"

namespace sim {

struct Fiber;

class Stacks {
 public:
  static constexpr u32 SHIFT = 16;  // 64 KiB each, the lowest page of it a guard
  static constexpr size_t STACK_BYTES = size_t(1) << SHIFT;
  static constexpr u32 COUNT = MAX_WORKERS * MAX_THREADS;

  // Reserves the addresses. Returns false if the system refuses.
  bool reserve();
  // Makes stack `slot` usable and remembers whose it is. Returns false if memory ran out.
  bool open(u32 slot, Fiber* owner);
  char* low(u32 slot) const { return base_ + slot * STACK_BYTES; }
  // Stacks end at different offsets: at equal ones, all would compete for the same cache lines.
  char* top(u32 slot) const { return low(slot) + STACK_BYTES - (slot % 32) * 192; }

  Fiber* owner_of(const void* address) const {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - uintptr_t(base_);
    return offset < COUNT * STACK_BYTES ? owners_[offset >> SHIFT] : nullptr;
  }
  bool contains(const void* address) const { return owner_of(address) != nullptr; }

 private:
  char* base_ = nullptr;
  Fiber* owners_[COUNT] = {};
};

extern Stacks stacks;

// The fiber that runs here, or null.
inline __attribute__((always_inline)) Fiber* running_fiber() {
  return stacks.owner_of(__builtin_frame_address(0));
}

}  // namespace sim
