// Who knows of whose accesses: vector clocks.
//
// Every access bears the stamp of its thread. Numbers only grow, so one comparison tells whether a
// thread knows of an access: it has waited for the accessing thread's stamp, or a later one. Those
// who access are "slots": the threads of the block (of all blocks of a cluster), then agents, such
// as the copy engine on behalf of one mbarrier.
//
// All threads of a block know all of its stamps up to the last __syncthreads; so most threads never
// need a clock of their own.
#pragma once
#include <memory>
#include <vector>

#include "beyond.h"
#include "engine/fiber.h"
#include "memory/types.h"

namespace sim {

// By slot, the newest stamp known; and what is known of other clusters, null: nothing.
struct Clock : std::vector<u32> {
  using std::vector<u32>::vector;
  std::shared_ptr<const Beyond> beyond;
};

class Clocks {
 public:
  static constexpr u32 AGENTS = 128;

  void begin_launch(u32 ranks, u32 threads);
  // All that is known from before is forgotten. To be called once for all blocks of a cluster.
  void begin();
  void begin_block(u32 rank, Fiber* fibers);

  // Every thread of the block has waited for every other.
  void barrier(u32 rank, Fiber* fibers);
  // The fibers have waited for each other.
  void join(Fiber* const* fibers, u32 count);
  // What the fiber has done and knows goes into a clock, from which another may take it.
  void release(Fiber& fiber, Clock& into);
  void acquire(Fiber& fiber, const Clock& from);
  // As if the fiber had waited for what an agent did.
  void learn(Fiber& fiber, u32 slot, u32 stamp);

  // The fiber releases to the cluster what it has done and knows. Other ways to tell another block
  // of something (mbarrier_arrive_remote) order reads, and show it no writes.
  void publish(Fiber& fiber);
  // Whether a write can be seen by the fiber, which knows of it: it is of the fiber's own block, or
  // an agent's, or someone who knew of it has released to the cluster since.
  bool is_published(const Fiber& fiber, u32 writer, u32 stamp) const {
    return writer - fiber.first_slot < threads_ || is_agent(writer) || stamp <= start_ ||
           published_[writer] >= stamp;
  }

  // One who knows what all of the fibers know, and has fenced what all have: for what they do only
  // together. It is good until the next call.
  Fiber common(Fiber* fibers, u32 count, u32 slot);

  // A slot for someone who is no thread. There are AGENTS of them; further ones share.
  u32 new_agent();
  bool is_agent(u32 slot) const { return slot >= all_threads_; }
  u32 new_stamp() { return ++now_; }
  Clock new_clock() const { return Clock(slots(), 0); }
  u32 slots() const { return all_threads_ + AGENTS; }

  bool knows(const Fiber& fiber, u32 slot, u32 stamp) const {
    if (slot == fiber.slot || (stamp <= fiber.synced && slot - fiber.first_slot < threads_))
      return true;
    return (fiber.clock ? fiber.clock : base_[fiber.rank].data())[slot] >= stamp;
  }

  // Whether all that is in a clock is known.
  bool knows_all(const Fiber& fiber, const Clock& clock) const;

  // ---- between clusters (beyond.h) ----
  // __threadfence() in the cluster of this number. Returns whether it orders the fiber behind
  // another one of the cluster.
  bool fence_grid(Fiber& fiber, u32 cluster);
  // An atomic of the fiber has read where another passed this on.
  void see(Fiber& fiber, const View& passed_on);
  // Of several fibers as one (`common`), what their block knew at its last barrier.
  const Beyond* beyond(const Fiber& fiber) const {
    const bool has_own = fiber.clock && !is_agent(fiber.slot);
    return (has_own ? clocks_[fiber.slot] : base_[fiber.rank]).beyond.get();
  }

  // Whether anything that the block `rank` has done since its start is known.
  bool knows_start(const Fiber& fiber, u32 rank) const;

  // fence.proxy.async: what the fiber has written or knows of can now be seen by the async proxy.
  void fence(Fiber& fiber);
  // Whether a write can be seen by an operation of the async proxy that `fiber` starts: its writer
  // has fenced after it, or `fiber` has, knowing of it.
  bool is_fenced(const Fiber& fiber, u32 writer, u32 stamp) const {
    return has_fenced(writer, writer, stamp) || has_fenced(fiber.slot, writer, stamp);
  }

  // Stamp of the start: an access up to here belongs to blocks that ran before.
  u32 start() const { return start_; }

 private:
  Clock& clock_of(Fiber& fiber);
  void lower_to_all(Fiber* fibers, u32 count, u32 slot);
  bool has_fenced(u32 slot, u32 writer, u32 stamp) const {
    return slot < fences_.size() && !fences_[slot].empty() && fences_[slot][writer] >= stamp;
  }

  u32 threads_ = 0;      // of a block
  u32 all_threads_ = 0;  // of the cluster
  u32 now_ = 1, start_ = 0;
  u32 agents_ = 0;
  std::vector<Clock> base_;     // by rank: what all threads of the block know beyond themselves
  std::vector<Clock> clocks_;   // by slot of a thread, made at its first need
  std::vector<u32> published_;  // by slot of a thread: what has been released to the cluster
  std::vector<Clock> fences_;   // by slot: what it knew at its last fence
  u64 changes_ = 0;             // of what anyone knows or has fenced
  Clock joined_, common_;
  u32 common_slot_ = 0;  // whose `common_` is, and of when
  u64 common_changes_ = 0;
};

}  // namespace sim
