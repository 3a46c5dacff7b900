// What a thread knows by fences and atomics, above all of other clusters of the grid (of other
// blocks, in a launch without clusters).
//
// Within a cluster, clocks.h tells who has waited for whom, and a fence adds what it makes known of
// the thread's own cluster to that. Between clusters PTX orders two accesses (PTX ISA, "Memory
// Consistency Model") by a chain: the one, a fence, an atomic, an atomic of the other cluster that
// reads what this one wrote, a fence, the other. __threadfence() is fence.sc: so fence and atomic
// may be of different threads, if the first thread's fence is ordered before the second's atomic by
// a barrier in their block, and likewise on the other side.
#pragma once
#include <memory>
#include <vector>

#include "memory/types.h"

namespace sim {

using Stamps = std::vector<u32>;  // by slot, the newest stamp of a cluster's threads

// Accesses: those of each cluster's threads up to some stamp.
class View {
 public:
  void join(const View& other);
  void join(u32 cluster, std::shared_ptr<const Stamps> stamps);
  bool holds(u32 cluster, u32 slot, u32 stamp) const { return known(cluster, slot) >= stamp; }
  // The newest stamp of a slot; 0: none.
  u32 known(u32 cluster, u32 slot) const;

 private:
  struct Part {
    u32 cluster;
    std::shared_ptr<const Stamps> stamps;
  };
  std::vector<Part> parts_;  // of rising clusters
};

struct Beyond {
  View known;      // what is ordered before all that the thread will do
  View published;  // what fences before here have covered: the thread's next atomic passes it on
  View seen;       // what atomics have passed on to here: the thread's next fence makes it known

  void join(const Beyond& other) {
    known.join(other.known);
    published.join(other.published);
    seen.join(other.seen);
  }
};

}  // namespace sim
