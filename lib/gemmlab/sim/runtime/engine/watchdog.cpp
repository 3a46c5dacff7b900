#include "watchdog.h"

#include <pthread.h>

#include <chrono>

#include "fault.h"
#include "grid.h"
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
    bool headway = false;
    for (u32 i = 0; i < count; ++i) headway |= look(*clusters[i], seen[i]);
    progress.headway += headway;
    if (!(hooks & HOOKS_CANCEL)) continue;
    for (std::thread& thread : threads) pthread_kill(thread.native_handle(), INTERRUPTION);
  }
}

bool Watchdog::look(Cluster& cluster, Seen& seen) {
  if (cluster.is_parked()) return false;
  const u32 headway = cluster.headway();
  const bool moved = headway != seen.headway;
  const u32 changes = cluster.changes();
  if (!cluster.is_busy() || moved)
    seen = {headway, 0, changes, 0};
  else if (++seen.ticks * TICK > std::chrono::duration<double>(budget_seconds)) {
    cluster.give_up(2 * seen.changed > seen.ticks);
    hooks |= HOOKS_CANCEL;
    bitten_ = true;
  }
  if (changes != seen.changes) seen.changes = changes, seen.changed = seen.ticks;
  return moved;
}

}  // namespace sim
