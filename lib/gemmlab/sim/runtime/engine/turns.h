// Whose turn it is, in launches whose clusters may communicate: by atomics, fences or volatile
// accesses. Several clusters are then resident, each on OS threads of its own (a group), and one of
// them runs at a time. So results do not depend on the machine.
//
// In order 0 a cluster is dispatched when one before it has ended or cannot go on. In other orders
// the first few are dispatched at once, and wherever they communicate the order, which is a seed,
// decides who goes on.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "memory/types.h"

namespace sim {

class Turns {
 public:
  // next: the number of clusters that have been dispatched, of `clusters`. Without `taken` all
  // groups run at the same time, and nothing here is called.
  void begin(bool taken, u32 groups, u32 order, const std::atomic<u64>& next, u64 clusters);
  bool taken() const { return taken_; }
  // Whether offers change who goes on.
  bool takes_offers() const { return taken_ && order_; }

  // ---- called by an OS thread of the group ----
  // Waits for the group's first turn. Returns false if it will have none.
  bool start(u32 group);
  // ---- called by the group whose turn it is, and returning when it is again ----
  // It could go on, but others may come first. Only where takes_offers().
  void offer(u32 group);
  // Its cluster has ended; others that wait come first.
  void end_cluster(u32 group);
  // It cannot go on. Returns false if nobody can.
  bool pass(u32 group);
  // It will need no more turns. Does not wait.
  void leave(u32 group);

  // Something happened that others may have waited for.
  void note_headway() {
    idle_ = fruitless_ = going_round = 0;
    ++epoch_;
  }
  u64 epoch() const { return epoch_; }  // how often that was
  bool is_stuck() const { return stuck_; }
  u32 resident() const { return resident_; }
  u64 waiting() const { return dispatched() < clusters_ ? clusters_ - dispatched() : 0; }

  // Threads that wait for a change of memory, which may have been told to look by themselves: a
  // loop that polls so many times, and then goes on, must not be taken for a deadlock. Those that
  // go round, since the last headway, can only go on if memory changes (polling.h).
  u32 polling = 0, going_round = 0;
  u32 looks() const { return looks_; }

 private:
  static constexpr u32 FIRST = 8;             // clusters that are dispatched at once
  static constexpr u32 MOST_FRUITLESS = 128;  // looks in a row of all that poll
  static constexpr u32 CHANCES = 4;           // of so many offers one is taken

  struct Seat {
    std::condition_variable changed;
    bool started = false, left = false;
  };

  u64 dispatched() const { return next_->load(); }
  u64 random();
  void sit(u32 group);
  u32 after(u32 group) const;
  u32 any();
  void give(u32 group);
  void give_and_wait(std::unique_lock<std::mutex>& lock, u32 from, u32 to);

  std::mutex mutex_;
  std::deque<Seat> seats_;
  bool taken_ = false, stuck_ = false, over_ = false;
  u32 groups_ = 0, resident_ = 0, turn_ = 0, order_ = 0;
  u32 idle_ = 0, fruitless_ = 0, looks_ = 0;
  u64 random_ = 0, clusters_ = 0, epoch_ = 0;
  const std::atomic<u64>* next_ = nullptr;
};

}  // namespace sim
