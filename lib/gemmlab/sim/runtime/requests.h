// From the lanes' logs to warp requests, and the counters of each instruction.
#pragma once
#include <unordered_map>
#include <vector>

#include "event.h"
#include "module.h"
#include "types.h"

namespace sim {

struct Counter {
  u64 requests = 0;
  u64 lanes = 0;  // active ones, summed over requests
  u64 wavefronts = 0, wavefronts_min = 0;
  u64 sectors = 0, sectors_min = 0;

  void add(const Counter& other);
};

using Counters = std::unordered_map<u32, Counter>;  // by "what": instruction, operation, width

struct LaneEvents {
  const Event* begin = nullptr;
  const Event* end = nullptr;
  size_t size() const { return size_t(end - begin); }
};

// The lanes' logs of one warp, empty for lanes that did nothing.
struct WarpEvents {
  LaneEvents lane[WARP];

  u32 active() const;
  // How many events all active lanes have in common from the start on, addresses apart.
  size_t common() const;
  // Whether that is all there are.
  bool uniform() const;
};

class RequestCounter {
 public:
  void begin(const Module& module) { module_ = &module, counters_.clear(); }
  // Groups the events: the k-th time that lanes execute one place in the source is one request.
  void count(const WarpEvents& events);
  const Counters& counters() const { return counters_; }

 private:
  void count_in_step(const WarpEvents& events, size_t steps);
  void count_diverged(const WarpEvents& events, size_t from);
  void count_request(u32 what, const u32 (&address)[WARP], u32 mask);

  const Module* module_ = nullptr;
  Counters counters_;
};

}  // namespace sim
