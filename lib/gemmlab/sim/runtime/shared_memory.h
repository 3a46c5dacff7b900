// The shared memory of the block that an OS thread runs: the kernel library's thread-local segment.
#pragma once
#include <vector>

#include "module.h"
#include "types.h"

namespace sim {

class SharedMemory {
 public:
  static constexpr size_t MAX_DYNAMIC = 232448;  // bytes a block may ask for on Hopper

  // Called once a launch by the OS thread that will run the blocks.
  void attach(const Module& module, size_t dynamic_bytes);
  // NaN patterns everywhere: what no thread has written must not look like a zero.
  void poison();

  u32 bytes() const { return bytes_; }
  // Offset of an address; at least bytes() if it is not shared memory.
  size_t offset_of(uintptr_t address) const { return address - base_; }
  // Whether an address is just outside: what an index out of an array reaches. Nothing that a
  // kernel may use lies there.
  bool is_near(uintptr_t address) const {
    constexpr size_t NEAR = size_t(1) << 16;
    return bytes_ && address - (base_ - NEAR) < bytes_ + 2 * NEAR;
  }
  // Whether an access lies within one array.
  bool holds(u32 offset, u32 width) const {
    return owner_[offset] && owner_[offset] == owner_[offset + width - 1];
  }

 private:
  uintptr_t base_ = 0;
  u32 bytes_ = 0;
  std::vector<SharedArray> arrays_;
  std::vector<u8> owner_;  // for each byte the number of its array from 1, 0 between arrays
};

}  // namespace sim
