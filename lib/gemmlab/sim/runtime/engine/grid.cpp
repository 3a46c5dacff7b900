#include "grid.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "fault.h"
#include "watchdog.h"

namespace sim {

Progress progress;

namespace {

// Kept from launch to launch, with their stacks, logs and cells.
std::vector<std::unique_ptr<Worker>> all_workers;

std::vector<std::unique_ptr<Cluster>> all_clusters;

// What one OS thread does: it runs the blocks of one rank.
void run_blocks(Worker& worker, Cluster& cluster, u32 rank, const Launch& launch,
                const Dispatch& dispatch, std::atomic<u64>& next, std::atomic<bool>& failed) {
  FaultStack stack(&worker);
  const bool begun = worker.begin_launch(launch, cluster, rank);
  if (!begun) failed = true;
  for (;;) {
    const u64 turn = cluster.next(next, begun && !(hooks & HOOKS_CANCEL));
    if (turn >= launch.clusters()) return;
    worker.run_block(launch.block_of(dispatch[turn], rank));
    ++progress.done;
  }
}

}  // namespace

Dispatch::Dispatch(u64 count, u32 order) : count_(count), order_(order) {
  if (order < 2) return;
  shuffled_.resize(count);
  std::iota(shuffled_.begin(), shuffled_.end(), 0u);
  std::mt19937 random(order);
  for (u64 left = count; left > 1; --left)
    std::swap(shuffled_[left - 1], shuffled_[random() % left]);
}

u64 Dispatch::operator[](u64 turn) const {
  if (order_ == 0) return turn;
  return order_ == 1 ? count_ - 1 - turn : shuffled_[turn];
}

bool run_grid(const Launch& launch, u32 workers, Results& results) {
  if (!stacks.reserve()) return false;
  const u32 ranks = launch.ranks();
  const u32 groups = u32(std::min<u64>({workers, launch.clusters(), MAX_WORKERS / ranks}));
  const u32 count = groups * ranks;
  progress.all += launch.blocks();
  while (all_workers.size() < count)
    all_workers.push_back(std::make_unique<Worker>(u32(all_workers.size())));
  while (all_clusters.size() < groups) all_clusters.push_back(std::make_unique<Cluster>());
  const Dispatch dispatch(launch.clusters(), launch.order);
  std::atomic<u64> next{0};
  std::atomic<bool> failed{false};
  Watchdog watchdog;
  {
    std::vector<std::thread> threads;
    for (u32 g = 0; g < groups; ++g)
      all_clusters[g]->begin_launch(ranks, launch.threads(), launch.traced);
    for (u32 w = 0; w < count; ++w)
      threads.emplace_back([&, w] {
        run_blocks(*all_workers[w], *all_clusters[w / ranks], w % ranks, launch, dispatch, next,
                   failed);
        watchdog.leave();
      });
    watchdog.watch(all_clusters, groups, threads);
    for (std::thread& thread : threads) thread.join();
  }
  for (u32 w = 0; w < count; ++w) {
    for (const auto& [what, instruction] : all_workers[w]->instructions())
      results.instructions[what].add(instruction);
    results.findings.add(all_workers[w]->findings());
  }
  // The other blocks were stopped because of one that had to be given up.
  if (watchdog.has_bitten()) results.findings.remove(Kind::CANCELLED);
  return !failed;
}

}  // namespace sim
