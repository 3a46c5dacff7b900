// Ends what would not end by itself: a launch that was cancelled, and kernels in an endless loop.
//
// A block makes headway when one of its threads returns, when a barrier of the block opens, or when
// something happens that a thread has waited for. Loads, stores and warp collectives are no
// headway: a loop that polls a value makes them for ever. A block without headway for the length of
// the budget is given up, and with it the launch.
//
// Of one whose atomics have changed memory up to the end it is not said that the loop has no end: a
// counter may be on its way to its limit.
//
// The scheduler and the memory hooks see that at once. A loop that calls neither is interrupted by
// a signal to its OS thread (fault.cpp).
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster.h"
#include "memory/types.h"

namespace sim {

// Seconds without headway, counted in ticks of the watchdog: a stopped process does not use it up.
extern double budget_seconds;

class Watchdog {
 public:
  // To be called by each OS thread of the launch at its end.
  void leave();
  // Returns when all of them have left.
  void watch(const std::vector<std::unique_ptr<Cluster>>& clusters, u32 count,
             std::vector<std::thread>& threads);
  // Whether a block was given up.
  bool has_bitten() const { return bitten_; }

 private:
  struct Seen {
    u32 headway = 0, ticks = 0;
    u32 changes = 0, changed = 0;  // by atomics; at which tick
  };
  // Returns whether the cluster has made headway.
  bool look(Cluster& cluster, Seen& seen);

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_ = 0;
  bool bitten_ = false;
};

}  // namespace sim
