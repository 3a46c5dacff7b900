#include "shared_memory.h"

#include <algorithm>
#include <cstring>

namespace sim {

void SharedMemory::attach(const Module& module, size_t dynamic_bytes) {
  base_ = reinterpret_cast<uintptr_t>(shared_segment(module));
  bytes_ = module.shared_bytes;
  arrays_ = module.arrays;
  if (module.dynamic_offset >= 0 && dynamic_bytes)
    arrays_.push_back({u32(module.dynamic_offset), u32(std::min(dynamic_bytes, MAX_DYNAMIC))});
  owner_.assign(bytes_ + 16, 0);  // an access may end past the segment
  for (size_t i = 0; i < arrays_.size(); ++i)
    std::memset(&owner_[arrays_[i].offset], int(i % 255) + 1, arrays_[i].bytes);
}

void SharedMemory::poison() {
  for (const SharedArray& array : arrays_)
    std::memset(reinterpret_cast<char*>(base_) + array.offset, 0xff, array.bytes);
}

}  // namespace sim
