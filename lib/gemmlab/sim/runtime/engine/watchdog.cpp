#include "watchdog.h"

#include <pthread.h>

#include <chrono>

#include "fault.h"
#include "worker.h"

namespace sim {

double budget_seconds = 10;

namespace {
constexpr std::chrono::milliseconds TICK(50);
}

void Watchdog::leave() {
  const std::lock_guard lock(mutex_);
  ++left_;
  changed_.notify_one();
}

void Watchdog::watch(const std::vector<std::unique_ptr<Cluster>>& clusters, u32 count,
                     std::vector<std::thread>& threads) {
  std::vector<Seen> seen(count);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, TICK, [&] { return left_ == threads.size(); })) {
    for (u32 i = 0; i < count; ++i) look(*clusters[i], seen[i]);
    if (!(hooks & HOOKS_CANCEL)) continue;
    for (std::thread& thread : threads) pthread_kill(thread.native_handle(), INTERRUPTION);
  }
}

void Watchdog::look(Cluster& cluster, Seen& seen) {
  if (cluster.is_parked()) return;
  const u32 headway = cluster.headway();
  if (!cluster.is_busy() || headway != seen.headway)
    seen = {headway, 0};
  else if (++seen.ticks * TICK > std::chrono::duration<double>(budget_seconds)) {
    cluster.give_up();
    hooks |= HOOKS_CANCEL;
    bitten_ = true;
  }
}

}  // namespace sim
