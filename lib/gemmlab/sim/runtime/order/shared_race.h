// Data races on shared memory, within a block or a cluster, and the use of memory that an
// asynchronous operation has in hand.
//
// Two accesses of different threads to one cell, at least one of them a write, are a race unless
// the later thread knows of the earlier access (clocks.h). A cell keeps its last writer and two
// readers, the first and the last, if possible of different warps. A reader between these that
// alone is left unordered (by barriers for a part of the block) can be missed.
//
// An asynchronous operation begins, and ends when someone has waited for it. In between its memory
// is pending: nobody may read what it fills, nobody may write what it reads.
//
// An offset is a shared address (shared_memory.h): in the fiber's own block, or in another one's.
#pragma once
#include <unordered_map>
#include <vector>

#include "clocks.h"
#include "engine/fiber.h"
#include "findings.h"
#include "memory/shared_memory.h"
#include "memory/types.h"

namespace sim {

// What an asynchronous operation is called, where it stands, and whether it takes another way to
// memory than loads and stores do (PTX ISA, "proxies").
struct AsyncOp {
  const char* name;
  u32 pc;
  bool by_async_proxy;
};

class RaceCheck {
 public:
  // `plain`: nothing but __syncthreads orders the threads of the kernel.
  void begin_launch(u32 shared_bytes, u32 ranks, u32 threads, bool plain, Findings& findings);
  void begin();
  // A block has ended: what others did in its memory, and no thread of it knows, may come too late.
  void end_block(const Fiber* fibers, u32 threads);
  // Reports what only the end of all can tell.
  void end(u32 block);

  Clocks& clocks() { return clocks_; }

  // is_strong: it is volatile.
  void read(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_strong = false);
  // Whether a read by the fiber, in its own block, would change nothing and report nothing, because
  // of what was read since the last barrier. True of most reads, which so look at nothing else.
  bool is_calm(const Fiber& fiber, u32 offset, u32 width) const {
    const u32 start = fiber.rank * bytes_ + offset;
    u32 i = start >> shift_;
    do {
      if (calm_[i] != fiber.synced) return false;
    } while (++i <= (start + width - 1) >> shift_);
    return true;
  }
  void write(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_strong = false);
  // Atomics do not race with each other.
  // reads: whether it takes what was there into account.
  void atomic(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool reads = true);

  // A volatile access or an atomic, which may order threads that fence before and after it.
  void pass_along(Fiber& fiber, u32 offset, bool reads, bool writes);
  // From now on something else than barriers may order threads.
  void forget_calm();
  // What wrote last at an offset of the fiber's block; 0: nobody.
  u32 last_write(const Fiber& fiber, u32 offset) const {
    const Cell& cell = cells_[(fiber.rank * bytes_ + offset) >> shift_];
    return is_written(cell) ? cell.write.pc : 0;
  }

  // ---- async_access.cpp: operations that `fiber` starts ----
  void begin_write(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width);
  void begin_read(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width);
  // From now on as if `slot` (a thread's or an agent's) had accessed the memory at `stamp`.
  // `fiber`: the thread that started it.
  void end_write(const Fiber& fiber, const AsyncOp& op, u32 slot, u32 stamp, u32 offset, u32 width);
  // `waiter`: a thread that has waited for the end, and knows of it.
  void end_read(const AsyncOp& op, const Fiber& waiter, u32 slot, u32 stamp, u32 offset, u32 width);
  // From now on the memory holds an object that is opaque to ordinary accesses, such as an
  // mbarrier.
  void begin_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width);
  void end_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width);
  // An operation on the object; its own rules order it, but it must know that the object is there.
  void use_object(const Fiber& fiber, const AsyncOp& op, u32 offset, u32 width);

 private:
  // STRONG: written by a volatile access of a thread that knows of a fence. Such a one and others
  // of that kind in other warps are taken for a flag; without a fence, for a forgotten barrier.
  // STRONG_READS: what has read it since is volatile.
  enum : u16 { ATOMIC = 1, PENDING = 2, STRONG = 4, STRONG_READS = 8 };
  struct Access {
    u32 stamp = 0;
    u32 pc = 0;
  };
  struct Cell {
    Access write, read[2];
    u16 writer = 0, reader[2] = {};
    u16 flags = 0;
  };
  // The operations that a cell marked PENDING belongs to.
  struct Pending {
    AsyncOp write = {}, read = {}, object = {};
    u16 writes = 0, reads = 0;
    bool is_object = false;
  };

  bool knows_write(const Fiber& fiber, const Cell& cell) const {
    return clocks_.knows(fiber, cell.writer, cell.write.stamp) &&
           clocks_.is_published(fiber, cell.writer, cell.write.stamp);
  }
  bool is_written(const Cell& cell) const { return cell.write.stamp > clocks_.start(); }
  // The cells of an access: the first, and the one past the last. They are calm no longer.
  Cell* cells(const Fiber& fiber, u32 address, u32 width, Cell*& end) {
    if (width < 1u << shift_) refine(u32(__builtin_ctz(width)));
    const u32 offset = rank_of(address, fiber.rank) * bytes_ + offset_in_block(address);
    const u32 first = offset >> shift_, last = (offset + width - 1) >> shift_;
    for (u32 i = first; i <= last; ++i) calm_[i] = 0;
    end = &cells_[last] + 1;
    return &cells_[first];
  }
  Pending& pending(const Cell* cell);
  void refine(u32 shift);
  void note_read(const Fiber& knower, u32 slot, u32 stamp, Cell& cell, u32 pc);
  void mark_uninitialised(Cell& cell, u32 pc);
  void write_cells(const Fiber& fiber, u32 offset, u32 width, u32 pc, u16 how);
  bool is_flag(const Fiber& fiber, u32 slot, u16 how) const {
    return how && !clocks_.is_agent(slot) && slot / WARP != fiber.slot / WARP;
  }
  int racing_reader(const Fiber& fiber, const Cell& cell) const;
  void report_unordered_read(const Fiber& fiber, const Cell& cell, u32 pc);
  void report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc, const char* name = nullptr);
  void report_early_read(const Fiber& fiber, const AsyncOp& op, u32 pc);
  // async_access.cpp
  bool touches_pending(const Fiber& fiber, const Cell& cell, bool is_write, u32 pc);
  bool is_unfenced(const Fiber& fiber, const Cell& cell) const;
  const char*& agent_name(u32 slot);
  void settle(Cell& cell);

  Findings* findings_ = nullptr;
  Clocks clocks_;
  std::vector<Cell> cells_;
  // By cell the barrier since which it is calm: its writer is known to all, and two threads have
  // read it, one of which at least is not the next writer. Only of kernels whose threads nothing
  // but __syncthreads orders: else it matters who the readers are.
  std::vector<u32> calm_;
  std::vector<Pending> pending_;          // beside the cells, made when the first operation begins
  std::vector<const char*> agent_names_;  // what each agent did last
  std::unordered_map<u32, View> passed_on_;  // by the first byte: what strong accesses pass on
  u32 shift_ = 2;                            // log2 of the bytes of a cell
  u32 bytes_ = 0, ranks_ = 1;                // of a block; blocks
  bool plain_ = false;
  bool marked_ = false;  // some cell was read before it was written
};

}  // namespace sim
