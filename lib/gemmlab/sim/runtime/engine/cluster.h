// The blocks of a cluster. A launch without clusters has clusters of one block.
//
// Each block runs on an OS thread of its own, whose shared memory it has, but only one of them runs
// at a time: it hands the turn on when none of its threads can go on. So blocks may look into each
// other's state, and results do not depend on the machine.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "order/global_race.h"
#include "order/shared_race.h"
#include "turns.h"
#include "memory/types.h"

namespace sim {

class Worker;

constexpr u32 MAX_RANKS = 16;  // blocks of a cluster

// Work that the copy engine has accepted. It is done as late as the machine may do it, in order:
// one piece whenever no thread of the cluster can go on. So a missing wait shows. The oldest is
// also done before there are too many, so that a loop without a wait does not use up this machine's
// memory.
class PutOff {
 public:
  void clear() { work_.clear(); }
  void push_back(std::function<void()> work);
  // Returns false if there is nothing to do.
  bool do_oldest();

 private:
  static constexpr size_t MOST = 4096;
  std::deque<std::function<void()>> work_;
};

// grid.sync(): blocks that have come, of a round that ends when all have.
struct GridBarrier {
  u64 come = 0, round = 0;
};

// What the clusters of a launch share.
struct Grid {
  u64 clusters = 0;
  std::atomic<u64> next{0};         // how many have been dispatched
  std::vector<u32> dispatch;        // in which order; empty: by their numbers
  std::atomic<bool> failed{false};  // memory ran out
  Turns turns;
  GridUse use;      // of global memory, if clusters run at the same time
  GridOrder order;  // of its accesses, if they take turns
  GridBarrier barrier;

  static constexpr u64 NONE = ~u64(0);
  // The number of the next cluster, NONE if all have been dispatched.
  u64 take();
};

class Cluster {
 public:
  RaceCheck races;
  GlobalRaceCheck globals{races.clocks()};
  PutOff copies;

  void begin_launch(u32 group, u32 ranks, u32 threads, bool traced, Grid& grid);
  void set_worker(u32 rank, Worker& worker) { workers_[rank] = &worker; }
  u32 ranks() const { return ranks_; }
  // The block that runs as `rank`, null if there is none.
  Worker* worker(u32 rank) { return rank < ranks_ ? workers_[rank] : nullptr; }
  bool is_running(u32 rank) const { return running_ >> rank & 1; }

  // ---- called by the OS thread of each rank ----
  // Waits until all blocks of the last cluster are done. Returns the number of the next one, the
  // same for all ranks; Grid::NONE if there is none, or if one of them says that it cannot go on.
  u64 next(bool can_go_on);
  void wait_for_turn(u32 rank);
  // The rank cannot go on. Returns when it may try again; not AGAIN: it should give up.
  enum class Turn { AGAIN, STUCK, ABANDONED };
  Turn pass(u32 rank);
  void leave(u32 rank, bool abandoned);
  // The rank went on, so others may be able to.
  void note_progress() { idle_ = 0; }
  // Something that other clusters may want to come before.
  void offer_turn() {
    if (grid_->turns.takes_offers()) park([&] { grid_->turns.offer(group_); });
  }
  Grid& grid() { return *grid_; }
  bool is_abandoned() const { return abandoned_; }

  // ---- for the watchdog, which is a thread of its own ----
  // Counts what shows that the blocks are not in an endless loop (watchdog.h).
  void start_block() {
    busy_ = true;
    note_headway();
  }
  void note_headway() {
    headway_.store(headway() + 1, std::memory_order_relaxed);
    if (grid_->turns.taken()) grid_->turns.note_headway();
  }
  // An atomic has changed memory: a loop may be long and not endless.
  void note_change() { changes_.store(changes() + 1, std::memory_order_relaxed); }
  u32 changes() const { return changes_.load(std::memory_order_relaxed); }
  u32 headway() const { return headway_.load(std::memory_order_relaxed); }
  bool is_busy() const { return busy_; }
  bool is_parked() const { return parked_; }  // until its turn
  // changes: atomics in the loop have changed memory up to the end.
  void give_up(bool changes) { changing_ = changes, given_up_ = true; }
  bool was_changing() const { return changing_; }
  bool is_given_up() const { return given_up_; }

  // ---- barrier.cluster (cluster_barrier.cpp) ----
  void arrive(Fiber& fiber);
  void learn_arrivals(Fiber& fiber) { races.clocks().acquire(fiber, completed_); }
  u64 barrier_phase() const { return phase_; }
  u32 arrivals() const { return arrivals_; }
  u32 live_threads() const { return live_threads_; }
  void thread_ended(const Fiber& fiber);

 private:
  u64 take();
  void begin();
  void hand_on(u32 rank);
  void complete_barrier();
  template <class Wait>
  void park(Wait wait) {
    parked_ = true;
    wait();
    parked_ = false;
  }

  Grid* grid_ = nullptr;
  u32 group_ = 0, ranks_ = 1, threads_ = 0;
  bool traced_ = false;
  Worker* workers_[MAX_RANKS] = {};

  std::mutex mutex_;
  std::condition_variable changed_;
  u64 number_ = 0, round_ = 0;  // of the cluster; of next()
  u32 here_ = 0;                // ranks in next()
  bool go_on_ = true;
  u32 turn_ = 0;
  u32 running_ = 0;  // ranks that have not left, as bits
  u32 idle_ = 0;     // ranks in a row that could not go on
  bool stuck_ = false, abandoned_ = false;

  std::atomic<u32> headway_{0}, changes_{0};
  std::atomic<bool> busy_{false}, parked_{false}, given_up_{false}, changing_{false};

  u32 arrivals_ = 0;  // of threads that have not ended
  u32 live_threads_ = 0;
  u64 phase_ = 0;
  Clock arriving_, completed_;
};

}  // namespace sim
