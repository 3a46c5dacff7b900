// Memory of the host's own that a program has registered, so that kernels may use it.
#pragma once
#include <map>

#include "types.h"

namespace sim {

class Registered {
 public:
  // Returns false if some of it is registered.
  bool add(const void* memory, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const auto next = ranges_.upper_bound(begin);
    if (holds(begin) || (next != ranges_.end() && next->first < begin + bytes)) return false;
    ranges_[begin] = bytes;
    return true;
  }
  bool remove(const void* memory) { return ranges_.erase(reinterpret_cast<uintptr_t>(memory)) > 0; }
  bool holds(uintptr_t address) const {
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return false;
    const auto [begin, bytes] = *std::prev(next);
    return address - begin < bytes;
  }

 private:
  std::map<uintptr_t, size_t> ranges_;
};

inline Registered registered;

}  // namespace sim
