// From the lanes' logs to warp requests, and what each instruction asked for.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/event.h"
#include "engine/module.h"
#include "merge.h"
#include "samples.h"
#include "types.h"

namespace sim {

struct Counter {
  u64 requests = 0;
  u64 lanes = 0;  // active ones, summed over requests
  u64 wavefronts = 0, wavefronts_min = 0;
  u64 sectors = 0, sectors_min = 0;

  void add(const Counter& other);
};

// One instruction of the kernel: a "what", which is a place, an operation and a width.
struct Instruction {
  u32 what = 0;
  Counter counter;
  Samples samples;
  Instruction* next = nullptr;  // the one that followed it last time

  // Of the block that runs:
  u32 block = 0;
  u32 requests = 0;
  u32 times[MAX_THREADS / WARP] = {};  // requests of each warp

  // Adds what another OS thread's blocks asked for.
  void add(const Instruction& other);
};

using Instructions = std::unordered_map<u32, Instruction>;

struct LaneEvents {
  const Event* begin = nullptr;
  const Event* end = nullptr;
  size_t size() const { return size_t(end - begin); }
};

// The lanes' logs of one warp, empty for lanes that did nothing.
struct WarpEvents {
  u32 warp = 0;  // its number in the block
  LaneEvents lane[WARP];

  u32 active() const;
  // Whether all active lanes did the same, addresses apart.
  bool uniform() const;
};

class RequestCounter {
 public:
  static constexpr u32 NO_SOURCE = ~0u;  // the address of a copy that reads nothing

  void begin(const Module& module);
  void begin_block(u32 block) { block_ = block; }
  // Groups the events: the k-th time that lanes execute one place in the source is one request.
  void count(const WarpEvents& events);
  // Nothing that the warp does from here on can be merged with what it did before.
  void separate(u32 warp) {
    if (!merging_.empty() && !merging_[warp].empty()) count_merged(warp);
  }
  // For what is not made of the lanes' events, such as the copy engine's requests.
  void add(u32 what, const Counter& counter) { instruction(what).counter.add(counter); }
  const Instructions& instructions() const { return instructions_; }

 private:
  size_t count_in_step(const WarpEvents& events);
  void count_diverged(const WarpEvents& events, size_t from);
  void count_request(u32 what, const Request& request, u32 warp);
  void count_access(u32 what, const Request& request, u32 warp);
  void count_merged(u32 warp);
  void count_copy(u32 what, const Request& request, u32 warp);
  Request as_on_a_gpu(const Request& to) const;
  void add_request(Instruction& all, const Request& request, Cost cost, u32 warp);
  Instruction& instruction(u32 what);
  Instruction& instruction_of_block(u32 what);

  const Module* module_ = nullptr;
  Instructions instructions_;
  Instruction start_;
  Instruction* last_ = &start_;
  u32 block_ = 0;

  // Where a warp's copies read, until it is seen where they write.
  struct Sources {
    u32 what;
    Request request;
  };
  Sources sources_[MAX_THREADS / WARP] = {};

  // Of each warp, what the machine code may have merged (merge.h). Empty if none was given.
  std::vector<std::vector<Mergeable>> merging_;
};

}  // namespace sim
