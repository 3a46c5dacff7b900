// Global memory: one reservation of addresses, in which every buffer has pages of its own, with
// unmapped ones around them. One subtraction tells a global address from any other, one table
// look-up whether it lies in a buffer, and a stray access of an untraced run hits a hole.
#pragma once
#include <vector>

#include "types.h"

namespace sim {

class Arena {
 public:
  // Below 2 GiB, so that offsets are positive 32-bit numbers: the log and the sorting rely on it.
  static constexpr size_t BYTES = (size_t(1) << 31) - (size_t(1) << 20);
  static constexpr u32 PAGE_SHIFT = 12;
  static constexpr u32 PAGE = 1u << PAGE_SHIFT;

  struct Buffer {
    u32 offset, bytes;
    const char* name;   // null: it has none
    bool host_visible;  // the host's code may use it, too
  };

  // A buffer that begins `lead` bytes, less than a page, behind the start of a page; what surrounds
  // it in its pages are NaN patterns. Null if the arena or the machine's memory is full.
  void* allocate(size_t bytes, size_t lead, const char* name = nullptr, bool host_visible = false);
  // Gives back the buffer that begins at an address. Returns false if there is none.
  bool release(const void* memory);
  // Gives back all buffers.
  void clear();
  // Whether any code may use the buffers: only while a kernel runs, since they are the device's.
  void open(bool usable);

  // Offset of an address; at least BYTES if it is not in the arena.
  size_t offset_of(uintptr_t address) const { return address - base_; }
  const void* at(u32 offset) const { return reinterpret_cast<const void*>(base_ + offset); }
  // Whether an aligned access of `width` bytes lies in a buffer.
  bool holds(u32 offset, u32 width) const {
    const Usable page = usable_[offset >> PAGE_SHIFT];
    const u32 at = offset & (PAGE - 1);
    return at >= page.begin && at + width <= page.end;
  }
  bool holds_address(const void* address, u32 width) const {
    const size_t offset = offset_of(reinterpret_cast<uintptr_t>(address));
    return offset < BYTES && holds(u32(offset), width);
  }
  // Number of the buffer nearest to an offset outside of all of them, or -1 if there is none.
  int nearest(u32 offset) const;
  // Pages that hold all buffers.
  size_t pages() const { return (next_ + PAGE - 1) >> PAGE_SHIFT; }
  const Buffer& buffer(int number) const { return buffers_[number]; }
  // The buffer that holds an address; null if there is none.
  const Buffer* buffer_of(const void* address) const;
  // A buffer's own name, or that of a launcher's matrix, by its number.
  const char* name_of(const Buffer& buffer) const;

 private:
  // The part of a page that belongs to a buffer; empty outside of all of them.
  struct Usable {
    u16 begin, end;
  };

  bool reserve();

  uintptr_t base_ = ~uintptr_t(0) - BYTES;  // no address is inside until reserve()
  Usable* usable_ = nullptr;                // of each page
  size_t next_ = 0;
  std::vector<Buffer> buffers_;
};

extern Arena arena;

}  // namespace sim
