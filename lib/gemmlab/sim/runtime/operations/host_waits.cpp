#include "host_waits.h"

#include <mutex>
#include <vector>

#include "engine/grid.h"

namespace sim {

namespace {

struct HostWait {
  Read read;
  Finding deadlock;
  Results* results = nullptr;
};
// So many of a grid are looked at.
constexpr size_t MOST = 1024;
std::vector<HostWait> of_grid, waits;
std::mutex mutex;

bool is_unchanged(const HostWait& wait) {
  return bits_at(wait.read.address, wait.read.width) == wait.read.value;
}

}  // namespace

void note_host_wait(const Read& read, const Finding& deadlock) {
  const std::lock_guard lock(mutex);
  if (of_grid.size() < MOST) of_grid.push_back({read, deadlock});
}

void keep_host_waits(Results& results) {
  for (HostWait& wait : of_grid) {
    wait.results = &results;
    waits.push_back(wait);
  }
  of_grid.clear();
}

void settle_host_waits() {
  // One that the host has ended may have let others go on.
  bool is_stuck = true;
  for (const HostWait& wait : waits) is_stuck &= is_unchanged(wait);
  if (is_stuck)
    for (const HostWait& wait : waits)
      wait.results->findings.change(Kind::NOT_SIMULATED, wait.deadlock);
  waits.clear();
}

void forget_host_waits() {
  of_grid.clear();
  waits.clear();
}

}  // namespace sim
