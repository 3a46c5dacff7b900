// Everything about the block that an OS thread runs: its fibers, its barrier, its checks. Workers
// share nothing but the launch and, within a cluster, what cluster.h has; so any number of them
// gives the same counts.
#pragma once
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <memory>
#include <vector>

#include "memory/arena.h"
#include "fiber.h"
#include "cluster.h"
#include "order/findings.h"
#include "mechanism.h"
#include "module.h"
#include "memory/journal.h"
#include "memory/requests.h"
#include "memory/shared_memory.h"
#include "stacks.h"
#include "warp.h"

namespace sim {

struct Launch {
  SimIndex grid, block, cluster;
  size_t dynamic_bytes;
  void (*body)(void*);
  void* arguments;
  const Module* module;
  bool traced, journal, values;  // values: of accesses, in the journal
  u32 order;                     // in which blocks run, a seed (turns.h)
  bool dependent;                // it may begin before the grid before it has ended
  bool cooperative;              // all of its blocks are to be resident together
  u64 most_clusters;             // that are run, 0: all

  u32 threads() const { return block.x * block.y * block.z; }
  // Stacks that a worker has, whole warps.
  u32 stacks() const { return (threads() + WARP - 1) / WARP * WARP; }
  u64 blocks() const { return u64(grid.x) * grid.y * grid.z; }
  u32 ranks() const { return cluster.x * cluster.y * cluster.z; }
  u64 clusters() const { return blocks() / ranks(); }
  // How many of them are run.
  u64 run() const { return most_clusters ? std::min(most_clusters, clusters()) : clusters(); }
  // Number in the grid of a block, by its cluster and its rank therein.
  u32 block_of(u64 cluster_number, u32 rank) const;
};

class Worker {
 public:
  // Of the copy engine, in the current block: those that need not have written yet.
  u32 stores_under_way = 0;

  explicit Worker(u32 number) : number_(number) {}

  // Called by the OS thread that will run the blocks: as `rank` of clusters, of which one is run at
  // a time. Returns false if memory ran out.
  bool begin_launch(const Launch& launch, Cluster& cluster, u32 rank);
  // Before any block of a cluster runs: one that has not begun yet has no barriers for the others.
  void forget_block() { mechanisms_.begin_block(*this); }
  void run_block(u32 block);

  const Launch& launch() const { return *launch_; }
  // Whether reads of global memory, too, are compared with what runs beside the kernel's threads.
  bool watches_reads() const { return stores_under_way || dependent_; }
  SimIndex block_index() const { return block_index_; }
  // Whether an address may be one of the kernel's arguments, which stand on the launching thread's
  // stack, wherever that is.
  bool is_argument(uintptr_t address) const {
    return address - reinterpret_cast<uintptr_t>(launch_->arguments) < 4096;
  }
  u32 block() const { return block_; }
  u32 rank() const { return rank_; }
  Cluster& cluster() { return *cluster_; }
  RaceCheck& races() { return cluster_->races; }
  GlobalRaceCheck& globals() { return cluster_->globals; }
  // Whether clusters may communicate, and so take turns.
  bool takes_turns() const { return cluster_->grid().turns.taken(); }
  Clocks& clocks() { return cluster_->races.clocks(); }
  Fiber* fibers() { return fibers_.data(); }
  Warp& warp_of(const Fiber& fiber) { return warps_[fiber.index / WARP]; }
  RequestCounter& requests() { return requests_; }
  Findings& mutable_findings() { return findings_; }
  // A mechanism's state for the current block.
  template <class M>
  M& state() {
    return mechanisms_.get<M>(*this);
  }
  SharedMemory& shared() { return shared_; }
  const Instructions& instructions() const { return requests_.instructions(); }
  Journal& journal() { return journal_; }
  const Findings& findings() const { return findings_; }

  // ---- called by a fiber, and returning when it may go on ----
  void synchronize_block(Fiber& fiber, u32 pc, int line);
  void meet(Fiber& fiber, const Wait& wait);
  // Until the wait's condition holds.
  void wait_until(Fiber& fiber, const Wait& wait);
  void wait_for_room(Fiber& fiber, u32 pc);
  // ---- called by a fiber, and never returning ----
  // The launch was cancelled, or the watchdog has given up the block.
  [[noreturn]] void stop_early(Fiber& fiber, u32 pc);
  [[noreturn]] void finish(Fiber& fiber);
  // Reports, and gives up the block.
  [[noreturn]] void abandon(Fiber& fiber, Finding finding);

  void report_inactive_lane(const Fiber& fiber, u32 lane);
  // ---- called by the signal handler, on whatever stack it has ----
  // Whether a fiber is at this instruction of its kernel. Then nothing of the runtime, the C
  // library or Python is under way on this OS thread, and the fiber can be dropped.
  bool is_in_kernel(uintptr_t pc) const;
  // Gives up the block. `finding` lacks its place.
  [[noreturn]] void fault(Finding finding, uintptr_t pc);
  [[noreturn]] void interrupt(uintptr_t pc);

 private:
  bool open_fibers();
  Finding reason_to_stop(const Fiber& fiber, u32 pc) const;
  void begin_block(u32 block);
  void end_block();
  // scheduler.cpp
  void schedule();
  bool run_warp(Warp& warp);
  bool wake(Warp& warp);
  bool run_lanes(Warp& warp);
  bool carry_out_collective(Warp& warp);
  bool make_room(Warp& warp);
  bool may_try_again();
  void look_again();
  void resume(Fiber& fiber);
  void release_barrier();
  void report_barrier();
  void report_stuck();
  void report_partial_warp(const Fiber& fiber, u32 lanes);
  void stop(Fiber& fiber, State state);
  // The logs of a traced run.
  void open_log(Warp& warp);
  void rewind_log(Warp& warp);
  void close_log(Warp& warp);
  void count(const WarpEvents& events);

  bool dependent_ = false;  // the launch, beside what hooks look at first
  const u32 number_;
  const Launch* launch_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<WarpLog>> free_logs_;
  SharedMemory shared_;
  Cluster* cluster_ = nullptr;
  u32 rank_ = 0;
  Mechanisms mechanisms_;
  RequestCounter requests_;
  Journal journal_;
  Findings findings_;

  Context scheduler_;
  Fiber* volatile running_ = nullptr;
  sigjmp_buf after_fault_;
  Finding fault_ = {};
  u32 block_ = 0;
  SimIndex block_index_ = {};
  u32 live_ = 0, at_barrier_ = 0;
  u32 looks_ = 0;  // of turns.h, the last that it had
  bool abandoned_ = false;
};

// What hooks look at first; 0 for an untraced run.
enum : u32 { HOOKS_TRACE = 1, HOOKS_CANCEL = 2 };
extern std::atomic<u32> hooks;

}  // namespace sim
