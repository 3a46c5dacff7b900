// A launch: its blocks spread over OS threads, and what they counted added up.
#pragma once
#include "order/findings.h"
#include "memory/requests.h"
#include "worker.h"

namespace sim {

struct Results {
  Instructions instructions;
  Findings findings;
  Journal journal;
};

// Blocks of the launches since it was last set to zero, and a number that grows as long as any of
// them, or the launcher, makes headway (watchdog.h); any thread may look.
struct Progress {
  std::atomic<u64> done{0}, all{0}, headway{0};
};
extern Progress progress;

// Runs all blocks on up to `workers` OS threads. Adds to `results`, the same for any number of
// them: each block is counted by itself, and the sums and the lowest block do not depend on the
// order. Returns false if memory for the fibers ran out.
bool run_grid(const Launch& launch, u32 workers, Results& results);

}  // namespace sim
