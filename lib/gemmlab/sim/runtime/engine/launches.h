// Launches, by the host or by kernels.
#pragma once
#include <mutex>

namespace sim {

// What a program's threads do with the device, they do one after the other: while one lives, it is
// the turn of the host's thread that has made it. (A finding that ends the program may leave it
// so.)
class DeviceTurn {
 public:
  DeviceTurn();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

// Those that kernels have asked for, and that have not come.
void forget_kept_launches();

}  // namespace sim
