// The memory from which kernels allocate themselves: malloc(), new and cudaMalloc in a kernel.
//
// It is one buffer of the device's, which is there before the first launch of a program whose
// kernels allocate: what is kept of global memory has its size at a launch's begin. What is freed
// is not given out again in the same launch: the hardware orders the two users of an address, and
// nothing here would say so. An access past the end of an allocation, but within the buffer, is not
// found.
#pragma once
#include <map>
#include <mutex>

#include "types.h"

namespace sim {

class DeviceHeap {
 public:
  // Null if there is no room, as on a GPU. from: where the kernel calls.
  void* allocate(size_t bytes, const void* from);
  // Returns false if the address is none that was allocated, or was freed.
  bool release(const void* memory);
  // Its kernels allocate.
  void want() { is_wanted_ = true; }
  // Returns false if it is wanted and there is no room for it.
  bool begin_launch();
  // What was freed may be given out again.
  void end_launch();
  // Before the first allocation: how large it is to be.
  bool resize(size_t bytes);
  size_t bytes() const { return bytes_; }
  void clear();

 private:
  std::mutex mutex_;
  bool is_wanted_ = false;
  size_t bytes_ = size_t(8) << 20;  // as cudaLimitMallocHeapSize
  char* base_ = nullptr;
  std::map<size_t, size_t> used_, free_, freed_;  // sizes by offset
};

extern DeviceHeap heap;

}  // namespace sim
