#include "grid_dependency.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "../../include/gemmlab_sim/abi_async.h"
#include "memory/access.h"

namespace sim {

GridWrites grid_writes;

void GridWrites::begin() {
  if (launch_) madvise(launch_of_, UNITS, MADV_DONTNEED);
  launch_ = first_ = 0;
}

void GridWrites::begin_launch(bool dependent) {
  if (!launch_of_) {
    void* table = mmap(nullptr, UNITS, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) return;  // nothing is found then
    launch_of_ = static_cast<u8*>(table);
  }
  if (launch_ == 255) begin();  // forgets what so many grids before have written
  ++launch_;
  if (!dependent) first_ = launch_;
}

void GridWrites::add(u32 offset, u32 width) {
  if (launch_) std::memset(launch_of_ + offset / UNIT, launch_, (width + UNIT - 1) / UNIT);
}

bool GridWrites::holds(u32 offset, u32 width) const {
  if (!launch_) return false;
  const u8* units = launch_of_ + offset / UNIT;
  return std::any_of(units, units + (width + UNIT - 1) / UNIT,
                     [&](u8 launch) { return launch && launch >= first_ && launch < launch_; });
}

void DependencyWaits::begin_block(Worker& worker) {
  waits_.clear();
  has_waited_.assign(worker.launch().threads(), false);
}

void DependencyWaits::add(const Fiber& fiber) {
  if (has_waited_[fiber.index]) return;
  has_waited_[fiber.index] = true;
  waits_.push_back({fiber.slot, fiber.stamp});
}

bool DependencyWaits::precede(const Fiber& fiber) {
  if (has_waited_[fiber.index]) return true;
  const Clocks& clocks = fiber.worker->clocks();
  const bool known = std::any_of(waits_.begin(), waits_.end(), [&](const Wait& wait) {
    return clocks.knows(fiber, wait.slot, wait.stamp);
  });
  return has_waited_[fiber.index] = known;
}

void compare_with_grids(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc) {
  Worker& worker = *fiber.worker;
  if (worker.launch().dependent && grid_writes.holds(offset, width) &&
      !worker.state<DependencyWaits>().precede(fiber)) {
    Finding finding = {Kind::GRID_DEPENDENCY, pc, 0, worker.block(), fiber.index};
    finding.number[1] = access != Access::READ;
    worker.mutable_findings().add(finding);
  }
  if (access != Access::READ) grid_writes.add(offset, width);
}

}  // namespace sim

extern "C" void sim_grid_dependency_wait() {
  sim::Fiber& fiber = *sim::running_fiber();
  if (fiber.worker->launch().traced) fiber.worker->state<sim::DependencyWaits>().add(fiber);
}
