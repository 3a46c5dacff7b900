// What the blocks of a cluster share. A launch without clusters has clusters of one block.
#pragma once
#include <deque>
#include <functional>

#include "race.h"
#include "types.h"

namespace sim {

class Worker;

struct Cluster {
  RaceCheck races;
  // Work that the copy engine has accepted. It is done as late as the machine may do it, in order:
  // one piece whenever no thread can go on. So a missing wait shows.
  std::deque<std::function<void()>> copies;

  // Does the oldest piece. Returns false if there is none.
  bool advance() {
    if (copies.empty()) return false;
    const std::function<void()> oldest = std::move(copies.front());
    copies.pop_front();
    oldest();
    return true;
  }
};

}  // namespace sim
