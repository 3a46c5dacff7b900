// A launch: its blocks spread over OS threads, and what they counted added up.
#pragma once
#include "order/findings.h"
#include "memory/requests.h"
#include "worker.h"

namespace sim {

struct Results {
  Instructions instructions;
  Findings findings;
};

// Blocks of the launches since it was last set to zero; any thread may look.
struct Progress {
  std::atomic<u64> done{0}, all{0};
};
extern Progress progress;

// The order in which blocks, or clusters of them, are dispatched. CUDA promises none: 0 is by
// number, 1 from the last to the first, others are permutations, the same for the same number.
class Dispatch {
 public:
  Dispatch(u64 count, u32 order);
  u64 operator[](u64 turn) const;

 private:
  u64 count_;
  u32 order_;
  std::vector<u32> shuffled_;  // empty for 0 and 1
};

// Runs all blocks on up to `workers` OS threads. Adds to `results`, the same for any number of
// them: each block is counted by itself, and the sums and the lowest block do not depend on the
// order. Returns false if memory for the fibers ran out.
bool run_grid(const Launch& launch, u32 workers, Results& results);

}  // namespace sim
