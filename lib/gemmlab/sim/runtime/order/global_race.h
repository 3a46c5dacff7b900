// Data races on global memory, between the threads of a cluster and between clusters.
//
// A cell keeps its last writer and two readers, as in race.h. Who knows of whom within a cluster
// tell its clocks, between clusters beyond.h. Strong accesses (atomics, volatile ones) do not race
// with each other.
//
// Clusters that cannot communicate run at the same time, each with a table of its own; nothing
// orders them, so it is enough to compare at their ends what they have used (GridUse), whatever
// came first. Clusters that may communicate take turns (engine/turns.h) and share one table.
#pragma once
#include <mutex>
#include <unordered_map>

#include "clocks.h"
#include "findings.h"
#include "global_cells.h"

namespace sim {

struct Launch;

struct GlobalAccess {
  u32 thread = 0;  // cluster * slots of a cluster + slot
  u32 stamp = 0;   // 0: nobody
  u32 pc = 0;      // and whether it was strong
};

struct GlobalCell {
  u32 round = 0;  // an older one's accesses are forgotten
  GlobalAccess write, read[2];
};

using GlobalTable = GlobalCells<GlobalCell>;

// Which clusters have used a cell: of writers and of readers the two lowest clusters, each with its
// place in the code. So the order in which clusters end does not matter.
struct CellUse {
  static constexpr u64 NONE = ~u64(0);
  u64 writer[2] = {NONE, NONE}, reader[2] = {NONE, NONE};  // cluster << 32 | pc
  void add(const GlobalCell& cell, u32 cluster);
};

// Of one launch whose clusters cannot communicate.
class GridUse {
 public:
  void begin() {
    ++round_;
    uses_.resize();
  }
  // What a cluster has used of a page in a round of its own.
  void add(u32 offset, GlobalTable::Page& used, u32 round, u32 cluster);
  // Reports the races between clusters.
  void end(const Launch& launch, Findings& findings);
  std::mutex mutex;  // to be held while a cluster adds what it has used

 private:
  u32 round_ = 0;  // of launches
  GlobalCells<CellUse> uses_;
};

// Of one launch whose clusters take turns.
struct GridOrder {
  u32 round = 0;  // of launches
  GlobalTable table;
  std::unordered_map<u32, View> passed_on;  // by offset: what atomics there pass on
  void begin() {
    ++round;
    table.resize();
    passed_on.clear();
  }
};

// The check of one cluster at a time.
class GlobalRaceCheck {
 public:
  explicit GlobalRaceCheck(Clocks& clocks) : clocks_(clocks) {}

  // One of `use` and `order` is null. plain: nothing but __syncthreads orders the kernel's threads.
  void begin_launch(u32 threads, bool plain, GridUse* use, GridOrder* order, Findings& findings);
  void begin(u64 cluster);
  void end();

  // By words of memory (calm_at) the barrier since which all of its cells are calm (race.h); null
  // in kernels for which that is of no use. Each fiber has it, so that most reads look at nothing
  // else.
  const u32* calm() const { return calm_.empty() ? nullptr : calm_.data(); }
  // Whether a read would change nothing and report nothing.
  static bool is_calm(const Fiber& fiber, u32 offset, u32 width) {
    if (!fiber.global_calm) return false;
    for (u32 done = 0; done < width; done += 4)
      if (fiber.global_calm[calm_at(offset + done)] != fiber.synced) return false;
    return true;
  }
  void read(const Fiber& fiber, u32 offset, u32 bytes, u32 pc, bool is_strong = false);
  void write(const Fiber& fiber, u32 offset, u32 bytes, u32 pc, bool is_strong = false);

  // Whether a strong access has told the fiber of one by a slot of its cluster; it still has to
  // fence.
  bool has_seen(const Fiber& fiber, u32 slot, u32 stamp) const {
    const Beyond* beyond = clocks_.beyond(fiber);
    return beyond && beyond->seen.holds(cluster_, slot, stamp);
  }
  // What wrote last at an offset, in this launch; 0: nobody.
  u32 last_write(u32 offset) {
    const GlobalCell& cell = *table_->at(offset).cell(offset);
    return cell.round == round_ ? cell.write.pc & ~STRONG : 0;
  }

  // ---- what orders clusters ----
  bool fence(Fiber& fiber) { return clocks_.fence_grid(fiber, cluster_); }
  // A strong read: sees what was passed on there.
  void see(Fiber& fiber, u32 offset);
  // A strong write: passes on what is published; a write that reads nothing begins anew.
  void pass_on(Fiber& fiber, u32 offset, bool reads_too);

 private:
  static constexpr u32 STRONG = 1u << 31;
  // A cache line further for each page: the words of a column of a matrix are in all cache sets.
  static u32 calm_at(u32 offset) { return offset / 4 + offset / Arena::PAGE * 16; }
  static bool both_strong(u32 pc, const GlobalAccess& other) { return pc & other.pc & STRONG; }
  // Calls visit(cell) for each cell of the memory, and notes whether it is calm then.
  template <class Visit>
  void for_each_cell(const Fiber& fiber, u32 offset, u32 bytes, Visit visit);
  GlobalTable::Page& page_at(u32 offset, u32 end);
  u32 calm_since(const Fiber& fiber, GlobalTable::Page& page, u32 word);
  bool knows(const Fiber& fiber, const GlobalAccess& access) const;
  void note_read(const Fiber& fiber, GlobalCell& cell, u32 pc);
  void report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc, const GlobalAccess& other);

  Clocks& clocks_;
  Findings* findings_ = nullptr;
  GlobalTable own_;
  GlobalTable* table_ = &own_;
  GridUse* use_ = nullptr;
  GridOrder* order_ = nullptr;
  std::vector<u32> calm_;
  std::vector<u32> touched_;  // pages of the own table
  u32 threads_ = 0;           // of a cluster
  u32 cluster_ = 0, first_ = 0;
  u32 round_ = 0, first_round_ = 0;  // now, and that of the launch's first cluster
  u32 own_round_ = 0;                // of the own table, also while the other is in use
};

}  // namespace sim
