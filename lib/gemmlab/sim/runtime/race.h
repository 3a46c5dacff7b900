// Data races within a block, on shared memory.
//
// Every access bears its thread's stamp. Two accesses of different threads to one cell, at least
// one of them a write, are a race unless the later thread has waited for the earlier stamp: all
// stamps up to the last __syncthreads, or those in its own clock, which __syncwarp fills.
//
// A cell keeps its last writer and two readers. Where more than two threads read, readers of
// different warps are kept; a third reader that only a partial __syncwarp leaves unordered can be
// missed.
#pragma once
#include <vector>

#include "fiber.h"
#include "findings.h"
#include "types.h"

namespace sim {

class RaceCheck {
 public:
  void begin_launch(u32 shared_bytes, u32 threads, Findings& findings);
  void begin_block(u32 block, Fiber* fibers, u32 threads);
  // Reports what only the end of the block can tell.
  void end_block();

  // Every thread has waited for every other.
  void barrier(Fiber* fibers, u32 threads);
  // The lanes of `mask` have waited for each other.
  void join(Fiber* lanes, u32 mask);

  void read(const Fiber& fiber, u32 offset, u32 width, u32 pc);
  void write(const Fiber& fiber, u32 offset, u32 width, u32 pc);
  // Atomics do not race with each other.
  void atomic(const Fiber& fiber, u32 offset, u32 width, u32 pc);

 private:
  struct Access {
    u32 stamp = 0;
    u32 pc = 0;
  };
  struct Cell {
    Access write, read[2];
    u16 writer = 0, reader[2] = {};
    u16 is_atomic = 0;
  };

  bool knows(const Fiber& fiber, u32 thread, u32 stamp) const {
    return stamp <= barrier_ || thread == fiber.index ||
           (fiber.clock && fiber.clock[thread] >= stamp);
  }
  Cell* cells(u32 offset, u32 width, Cell*& end);
  void refine(u32 shift);
  void note_read(const Fiber& fiber, Cell& cell, u32 pc);
  void mark_uninitialised(Cell& cell, u32 pc);
  void write_cells(const Fiber& fiber, u32 offset, u32 width, u32 pc, bool is_atomic);
  u32 racing_reader(const Fiber& fiber, const Cell& cell) const;
  void report(Kind kind, const Fiber& fiber, u32 pc, u32 other_pc);
  u32* clock_of(Fiber& fiber);

  Findings* findings_ = nullptr;
  std::vector<Cell> cells_;
  std::vector<u32> clocks_;  // a row of `threads_` for each thread, made at the first join
  std::vector<u32> joined_;
  u32 shift_ = 2;  // log2 of the bytes of a cell
  u32 bytes_ = 0, threads_ = 0, block_ = 0;
  u32 now_ = 1;
  u32 start_ = 0;        // stamp of the block's start: a write up to here is another block's
  u32 barrier_ = 0;      // stamp of the last barrier
  bool marked_ = false;  // some cell was read before it was written
};

}  // namespace sim
