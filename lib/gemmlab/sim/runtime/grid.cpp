#include "grid.h"

#include <algorithm>
#include <thread>

#include "fault.h"

namespace sim {

namespace {

// Kept from launch to launch, with their stacks, logs and cells.
std::vector<std::unique_ptr<Worker>> all_workers;

void run_blocks(Worker& worker, const Launch& launch, std::atomic<u64>& next,
                std::atomic<bool>& failed) {
  FaultStack stack(worker);
  if (!worker.begin_launch(launch)) {
    failed = true;
    return;
  }
  for (u64 block; !(hooks & HOOKS_CANCEL) && (block = next++) < launch.blocks();)
    worker.run_block(u32(block));
}

}  // namespace

bool run_grid(const Launch& launch, u32 workers, Results& results) {
  if (!stacks.reserve()) return false;
  const u32 count = u32(std::min<u64>({workers, launch.blocks(), MAX_WORKERS}));
  while (all_workers.size() < count)
    all_workers.push_back(std::make_unique<Worker>(u32(all_workers.size())));
  std::atomic<u64> next{0};
  std::atomic<bool> failed{false};
  {
    FaultHandlers handlers;
    std::vector<std::thread> threads;
    for (u32 w = 0; w < count; ++w)
      threads.emplace_back([&, w] { run_blocks(*all_workers[w], launch, next, failed); });
    for (std::thread& thread : threads) thread.join();
  }
  for (u32 w = 0; w < count; ++w) {
    for (const auto& [what, counter] : all_workers[w]->counters())
      results.counters[what].add(counter);
    results.findings.add(all_workers[w]->findings());
  }
  return !failed;
}

}  // namespace sim
