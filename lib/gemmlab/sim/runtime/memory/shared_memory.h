// The shared memory of the block that an OS thread runs: the kernel library's thread-local segment.
#pragma once
#include <vector>

#include "engine/module.h"
#include "types.h"

namespace sim {

// A shared address as PTX has it: below bit 24 the offset in a block's shared memory, above 0 for
// the own block, or one more than the rank of a block of the cluster (mapa).
constexpr u32 RANK_SHIFT = 24;
inline u32 offset_in_block(u32 address) { return address & ((1u << RANK_SHIFT) - 1); }
inline u32 rank_of(u32 address, u32 own_rank) {
  return address >> RANK_SHIFT ? (address >> RANK_SHIFT) - 1 : own_rank;
}
inline u32 map_to_rank(u32 address, u32 rank) {
  return offset_in_block(address) | (rank + 1) << RANK_SHIFT;
}

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
  // The memory at a shared address, whichever rank it names.
  char* at(u32 address) const { return reinterpret_cast<char*>(base_) + offset_in_block(address); }
  // Whether an address is just outside: what an index out of an array reaches. Nothing that a
  // kernel may use lies there.
  bool is_near(uintptr_t address) const {
    constexpr size_t NEAR = size_t(1) << 16;
    return bytes_ && address - (base_ - NEAR) < bytes_ + 2 * NEAR;
  }
  // Whether any `width` bytes from an offset on lie within one array.
  bool contains(u32 offset, u32 width) const {
    return u64(offset) + width <= bytes_ && holds(offset, width);
  }
  // The same for an access that starts in the segment.
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
