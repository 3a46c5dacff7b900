#include "heap.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/fault.h"
#include "memory/arena.h"

namespace sim {

DeviceHeap heap;

bool DeviceHeap::begin_launch() {
  if (base_ || !is_wanted_) return true;
  base_ = static_cast<char*>(arena.allocate(bytes_, 0, "the heap of kernels"));
  if (base_) free_[0] = bytes_;
  return base_ != nullptr;
}

void* DeviceHeap::allocate(size_t bytes, const void* from) {
  if (!base_)
    stop_incomplete(
        "an allocation by a function that is not marked __device__ | mark the functions that "
        "allocate "
        "with __device__, or call malloc, free, new or delete in a kernel's own text",
        from);
  const std::lock_guard lock(mutex_);
  const size_t needed = (bytes + 15) / 16 * 16 + (bytes ? 0 : 16);
  for (auto place = free_.begin(); place != free_.end(); ++place) {
    const auto [offset, size] = *place;
    if (size < needed) continue;
    free_.erase(place);
    if (size > needed) free_[offset + needed] = size - needed;
    used_[offset] = needed;
    std::memset(base_ + offset, 0xff, needed);  // what nobody has written is NaN
    return base_ + offset;
  }
  return nullptr;
}

bool DeviceHeap::release(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(size_t(static_cast<const char*>(memory) - base_));
  if (!base_ || found == used_.end()) return false;
  freed_.insert(*found);
  used_.erase(found);
  return true;
}

void DeviceHeap::end_launch() {
  for (const auto& [offset, size] : freed_) {
    auto place = free_.emplace(offset, size).first;
    const auto next = std::next(place);
    if (next != free_.end() && offset + size == next->first) {
      place->second += next->second;
      free_.erase(next);
    }
    if (place == free_.begin()) continue;
    const auto before = std::prev(place);
    if (before->first + before->second != offset) continue;
    before->second += place->second;
    free_.erase(place);
  }
  freed_.clear();
}

bool DeviceHeap::resize(size_t bytes) {
  if (base_) return false;
  bytes_ = bytes;
  return true;
}

void DeviceHeap::clear() {
  base_ = nullptr;
  used_.clear(), free_.clear(), freed_.clear();
}

namespace {

void release_on_device(void* memory, const char* call, const void* return_address) {
  if (!memory || heap.release(memory)) return;
  Finding finding = {Kind::BAD_FREE};
  finding.name = call;
  stop_caller(finding, return_address);
}

}  // namespace

}  // namespace sim

// A program calls these for the C and C++ libraries' (the linker's --wrap): of a kernel they are
// the device's.
#pragma GCC visibility push(default)
extern "C" {

int sim_use_heap() {
  sim::heap.want();
  return 0;
}

void* __wrap_malloc(size_t bytes) {
  return sim::running_fiber() ? sim::heap.allocate(bytes, __builtin_return_address(0))
                              : std::malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  if (!sim::running_fiber()) return std::calloc(count, bytes);
  void* const memory = sim::heap.allocate(count * bytes, __builtin_return_address(0));
  return memory ? std::memset(memory, 0, count * bytes) : nullptr;
}
void __wrap_free(void* memory) {
  if (!sim::running_fiber()) return std::free(memory);
  sim::release_on_device(memory, "free()", __builtin_return_address(0));
}
// operator new, new[], delete and delete[].
void* __wrap__Znwm(size_t bytes) {
  return sim::running_fiber() ? sim::heap.allocate(bytes, __builtin_return_address(0))
                              : ::operator new(bytes);
}
void* __wrap__Znam(size_t bytes) {
  return sim::running_fiber() ? sim::heap.allocate(bytes, __builtin_return_address(0))
                              : ::operator new[](bytes);
}
void __wrap__ZdlPv(void* memory) {
  if (!sim::running_fiber()) return ::operator delete(memory);
  sim::release_on_device(memory, "delete", __builtin_return_address(0));
}
void __wrap__ZdaPv(void* memory) {
  if (!sim::running_fiber()) return ::operator delete[](memory);
  sim::release_on_device(memory, "delete[]", __builtin_return_address(0));
}
void __wrap__ZdlPvm(void* memory, size_t) {
  if (!sim::running_fiber()) return ::operator delete(memory);
  sim::release_on_device(memory, "delete", __builtin_return_address(0));
}
void __wrap__ZdaPvm(void* memory, size_t) {
  if (!sim::running_fiber()) return ::operator delete[](memory);
  sim::release_on_device(memory, "delete[]", __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop
