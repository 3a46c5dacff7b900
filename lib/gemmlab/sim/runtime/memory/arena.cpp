#include "arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace sim {

Arena arena;

namespace {

constexpr size_t HOLE = size_t(1) << 16;
constexpr int LAZY = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Whole pages of the machine, which may be larger than ours.
size_t page_up(size_t bytes) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) & ~(page - 1);
}

}  // namespace

bool Arena::reserve() {
  if (usable_) return true;
  // Where the system allows it, so much unusable room on both sides that an index of 32 bits, even
  // of 16-byte elements, does not lead from a buffer to the process's own memory.
  size_t around = size_t(32) << 30;
  void* addresses = mmap(nullptr, BYTES + 2 * around, PROT_NONE, LAZY, -1, 0);
  if (addresses == MAP_FAILED) {
    around = 0;
    addresses = mmap(nullptr, BYTES, PROT_NONE, LAZY, -1, 0);
  }
  void* table =
      mmap(nullptr, (BYTES >> PAGE_SHIFT) * sizeof(Usable), PROT_READ | PROT_WRITE, LAZY, -1, 0);
  if (addresses == MAP_FAILED || table == MAP_FAILED) return false;
  base_ = reinterpret_cast<uintptr_t>(addresses) + around;
  usable_ = static_cast<Usable*>(table);
  return true;
}

void* Arena::allocate(size_t bytes, size_t lead, const char* name, bool host_visible) {
  if (!reserve()) return nullptr;
  const size_t first = next_ + HOLE, end = lead + bytes, size = page_up(end);
  if (bytes > BYTES || first + size + HOLE > BYTES) return nullptr;
  char* memory = reinterpret_cast<char*>(base_) + first;
  if (size && mprotect(memory, size, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // The rest of its pages is writable but not the buffer's: let it spoil results that use it.
  std::memset(memory, 0xff, lead);
  std::memset(memory + end, 0xff, size - end);
  for (size_t done = 0; done < end; done += PAGE)
    usable_[(first + done) >> PAGE_SHIFT] = {u16(done ? 0 : lead),
                                             u16(std::min<size_t>(PAGE, end - done))};
  buffers_.push_back({u32(first + lead), u32(bytes), name, host_visible});
  next_ = first + size;
  return memory + lead;
}

void Arena::clear() {
  if (!next_) return;
  // No buffer lies behind next_. Pages between them have never been touched.
  char* memory = reinterpret_cast<char*>(base_);
  madvise(memory, next_, MADV_DONTNEED);
  mprotect(memory, next_, PROT_NONE);
  std::memset(usable_, 0, (next_ >> PAGE_SHIFT) * sizeof(Usable));
  buffers_.clear();
  next_ = 0;
}

const Arena::Buffer* Arena::buffer_of(const void* address) const {
  const size_t offset = offset_of(reinterpret_cast<uintptr_t>(address));
  for (const Buffer& buffer : buffers_)
    if (offset - buffer.offset < buffer.bytes || offset == buffer.offset) return &buffer;
  return nullptr;
}

const char* Arena::name_of(const Buffer& buffer) const {
  constexpr const char* MATRICES[] = {"A", "B", "C", "the workspace"};
  const size_t number = size_t(&buffer - buffers_.data());
  return buffer.name ? buffer.name : number < 4 ? MATRICES[number] : "a buffer";
}

bool Arena::release(const void* memory) {
  const Buffer* buffer = buffer_of(memory);
  if (!buffer || offset_of(reinterpret_cast<uintptr_t>(memory)) != buffer->offset) return false;
  const u32 offset = buffer->offset, bytes = buffer->bytes;
  const size_t size = page_up(bytes);
  char* const begin = reinterpret_cast<char*>(base_ + offset);
  madvise(begin, size, MADV_DONTNEED);
  mprotect(begin, size, PROT_NONE);
  std::memset(usable_ + (offset >> PAGE_SHIFT), 0, (size >> PAGE_SHIFT) * sizeof(Usable));
  buffers_.erase(buffers_.begin() + (buffer - buffers_.data()));
  // Behind the last buffer that is left addresses are used again.
  next_ = buffers_.empty() ? 0 : page_up(buffers_.back().offset + buffers_.back().bytes);
  return true;
}

void Arena::open(bool usable) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  for (const Buffer& buffer : buffers_) {
    if (buffer.host_visible) continue;
    const uintptr_t begin = (base_ + buffer.offset) & ~(page - 1);
    const uintptr_t end = base_ + buffer.offset + buffer.bytes;
    if (begin < end)
      mprotect(reinterpret_cast<void*>(begin), page_up(end - begin),
               usable ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

int Arena::nearest(u32 offset) const {
  int best = -1;
  u64 best_distance = ~u64(0);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const u64 low = buffers_[i].offset, high = low + buffers_[i].bytes;
    const u64 distance = offset < low ? low - offset : offset >= high ? offset - high + 1 : 0;
    if (distance < best_distance) best = int(i), best_distance = distance;
  }
  return best;
}

}  // namespace sim
