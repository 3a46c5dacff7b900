#include "grid.h"

#include <algorithm>
#include <thread>

#include "fault.h"
#include "random.h"
#include "watchdog.h"

namespace sim {

Progress progress;

namespace {

// Kept from launch to launch, with their stacks, logs and cells.
std::vector<std::unique_ptr<Worker>> all_workers;

std::vector<std::unique_ptr<Cluster>> all_clusters;

Grid grid;

// What one OS thread does: it runs the blocks of one rank of a group's clusters. Returns false if
// the group's turn has never come.
bool run_blocks(Worker& worker, Cluster& cluster, u32 group, u32 rank, const Launch& launch) {
  if (grid.turns.taken() && !grid.turns.start(group)) return false;
  FaultStack stack(&worker);
  const bool begun = worker.begin_launch(launch, cluster, rank);
  if (!begun) grid.failed = true;
  for (;;) {
    const u64 number = cluster.next(begun && !(hooks & HOOKS_CANCEL));
    if (number == Grid::NONE) return true;
    worker.run_block(launch.block_of(number, rank));
    if (!(hooks & HOOKS_CANCEL)) ++progress.done;  // a block that was given up is no progress
  }
}

// How many clusters are resident at most.
u32 groups_of(const Launch& launch, u32 workers, bool taken) {
  // As many blocks as an H200 has SMs, if their stacks are not too many.
  const u32 resident = std::min(MAX_RESIDENT, Stacks::COUNT / launch.stacks());
  const u32 most = taken ? resident : std::min(workers * launch.ranks(), MAX_WORKERS);
  return u32(std::min<u64>(std::max(most / launch.ranks(), 1u), launch.run()));
}

void begin_grid(const Launch& launch, u32 groups) {
  grid.clusters = launch.run();
  grid.next = 0;
  grid.failed = false;
  grid.barrier = {};
  grid.dispatch.clear();
  if (launch.order && launch.module->communicates)
    grid.dispatch = dispatched(u32(launch.clusters()), launch.order);
  grid.turns.begin(launch.module->communicates, groups, launch.order, grid.next, grid.clusters);
  if (!launch.traced) return;
  grid.use.begin();
  grid.order.begin();
}

}  // namespace

bool run_grid(const Launch& launch, u32 workers, Results& results) {
  if (!stacks.reserve()) return false;
  const u32 ranks = launch.ranks();
  const u32 groups = groups_of(launch, workers, launch.module->communicates);
  const u32 count = groups * ranks;
  progress.all += launch.run() * ranks;
  while (all_workers.size() < count)
    all_workers.push_back(std::make_unique<Worker>(u32(all_workers.size())));
  while (all_clusters.size() < groups) all_clusters.push_back(std::make_unique<Cluster>());
  begin_grid(launch, groups);
  std::vector<char> has_run(count);
  Watchdog watchdog;
  {
    std::vector<std::thread> threads;
    for (u32 g = 0; g < groups; ++g)
      all_clusters[g]->begin_launch(g, ranks, launch.threads(), launch.traced, grid);
    for (u32 w = 0; w < count; ++w)
      threads.emplace_back([&, w] {
        const u32 group = w / ranks;
        has_run[w] = run_blocks(*all_workers[w], *all_clusters[group], group, w % ranks, launch);
        watchdog.leave();
      });
    watchdog.watch(all_clusters, groups, threads);
    for (std::thread& thread : threads) thread.join();
  }
  for (u32 w = 0; w < count; ++w) {
    if (!has_run[w]) continue;
    for (const auto& [what, instruction] : all_workers[w]->instructions())
      results.instructions[what].add(instruction);
    results.findings.add(all_workers[w]->findings());
    results.journal.take(all_workers[w]->journal());
  }
  if (launch.traced && !grid.turns.taken()) grid.use.end(launch, results.findings);
  // The other blocks were stopped because of one that had to be given up.
  if (watchdog.has_bitten()) results.findings.remove(Kind::CANCELLED);
  return !grid.failed;
}

}  // namespace sim
