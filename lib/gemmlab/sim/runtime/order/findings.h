// What is wrong with a kernel, by the places in its code. Sentences are made from this in Python
// (gemmlab/sim/findings.py), which knows the same kinds in the same order.
#pragma once
#include <vector>

#include "memory/types.h"

namespace sim {

enum class Kind : u32 {
  RACE_READ_WRITE,       // pc: the write, other_pc: the read; number: has the reader seen an atomic
                         // that passes the write on, but not fenced
  RACE_WRITE_WRITE,      // both write
  UNINITIALISED_READ,    // of shared memory
  OUT_OF_BOUNDS_GLOBAL,  // number: width, is a write, buffer, bytes past its end (< 0: before it);
                         // other_name: the buffer, if it has a name
  OUT_OF_BOUNDS_SHARED,  // number: width, is a write
  OUT_OF_BOUNDS_INDEX,   // number: the index; name: the array's type
  MISALIGNED,            // number: width, is a write, bytes past a multiple of the width, is it
                         // in shared memory
  DIVERGENT_BARRIER,     // other_pc: where others wait; or number: threads that have returned
  DIVERGENT_COLLECTIVE,  // names: the operations; number: lanes waiting, lanes awaited
  INACTIVE_SOURCE,       // name: the operation; number: the lane that it reads
  NOT_IN_MASK,           // name: the operation; number: the calling lane
  DEADLOCK,              // names: the operations; number: lanes waiting, lanes awaited
  BAD_ADDRESS,           // no memory that a kernel may use; number: the address, is it known
  STACK_OVERFLOW,        // of a thread's local arrays
  DIVISION_BY_ZERO,
  CANCELLED,
  ENDLESS_LOOP,    // number: milliseconds without headway
  LAUNCHER_FAULT,  // a bad address of host code
  ASSERTION,       // name: the expression of assert()
  ENDED,           // it would end the process; name: by which call
  THROWN,          // nobody catches it; name: the exception, null if it is none
  MANY_LAUNCHES,   // of one launcher; number: how many
  LONG_LOOP,       // number: milliseconds without headway; its atomics change memory
  // Of asynchronous operations (gemmlab/sim/messages/asynchronous.py); name: the operation.
  READ_BEFORE_WAIT,        // pc: the read, other_pc: the operation that fills the memory;
                           // number, for global memory: true, the thread that has started it;
                           // else the last one, of cp.async: no group has it
  WRITE_BEFORE_WAIT,       // pc: the write, other_pc: the operation that fills the memory; number
  OVERWRITTEN_WHILE_READ,  // pc: the write, other_pc: the operation that still reads
  COPY_OVERWRITES,         // pc: the operation, other_pc: an access that nothing orders before it
  MISSING_PROXY_FENCE,     // pc: the operation, other_pc: the write that it may not see
  UNFINISHED,              // pc: the operation, which nobody has waited for; number, of cp.async:
                           // whether no group has it, the groups that the last wait left in flight;
                           // of a box, the bytes announced to a phase that ended before all those
                           // requested in it had come, and these
  STUCK,                   // pc: a wait that will never end; number, other_pc, other_name: by its
                           // `describe`
  REMOTE_AFTER_EXIT,       // pc: an access to another block's memory that may come after its end
  REMOTE_UNORDERED,        // pc: an access to another block's memory that may come before its start
  REMOTE_UNRELEASED,       // pc: a read of what another block wrote, other_pc; it was not released
  PARTIAL_WARP,            // name: an operation of 32 lanes; number: lanes that are there
  PARTIAL_WARPGROUP,       // name: an operation of 4 warps; number: warps that have executed it
  COPY_SIZE,               // name: a copy; number: its bytes, those from the source
  COPY_SOURCE,             // name: a copy; its source is not in global memory
  // Of barriers and the copy engine (gemmlab/sim/messages/barriers.py); name: the operation.
  MISALIGNED_OPERAND,  // number: the alignment of a shared address, bytes past it
  MISALIGNED_COLUMN,   // at which a box of the copy engine begins; number: it, an element's bytes
  BAD_ARGUMENT,        // number: the value; other_name: what it is, and what is allowed
  BAD_TENSOR_MAP,      // an address at which no tensor map stands
  MBARRIER_MISSING,    // an address at which no mbarrier has been initialised
  MBARRIER_TWICE,      // pc: mbarrier_init, other_pc: that of the barrier that stands there;
                       // number: the thread that has initialised that one
  MBARRIER_OVERRUN,    // pc: an arrival too many, other_pc: mbarrier_init; number: its count, the
                       // last thread that has arrived, is it the same
  MBARRIER_TOUCHED,    // pc: an ordinary access to a barrier's bytes, other_pc: mbarrier_init
  MBARRIER_UNORDERED,  // pc: a use, other_pc: mbarrier_init, of which the thread need not know
  MBARRIER_UNFENCED,   // pc: an operation of the copy engine, other_pc: mbarrier_init
  TRANSACTION_BYTES,   // STUCK in a phase that has all arrivals
  BARRIER_COUNTS,      // two numbers of threads for one named barrier; number: both
  MBARRIER_AHEAD,  // pc: a wait that may return too early, other_pc: mbarrier_init; number: phase
  MBARRIER_OVERTAKEN,  // pc: a wait that may last too long, other_pc: mbarrier_init; number: phase
  GRID_DEPENDENCY,     // pc: a use of what an earlier grid writes; number: 0, is a write
  // Of wgmma (gemmlab/sim/messages/wgmma.py).
  BAD_DESCRIPTOR,          // number: DescriptorFault, 0 A or 1 B, detail, bytes of a pattern's row
  DOUBTFUL_DESCRIPTOR,     // the same, of one that can be executed
  REGISTER_BEFORE_WAIT,    // pc: the use, other_pc: the wgmma; number: is a write, is of A
  MISSING_REGISTER_FENCE,  // pc: the wgmma, other_pc: an earlier use of its registers, if any
  DIVERGENT_WARPGROUP,     // pc, other_pc: what its parts, other_name, do instead of one wgmma
  // Of global memory (gemmlab/sim/messages/grid.py); number: are they of different blocks, has the
  // later thread seen an atomic that passes the other access on, but not fenced.
  GLOBAL_READ_WRITE,   // pc: the write, other_pc: the read
  GLOBAL_WRITE_WRITE,  // both write
  NOT_SIMULATED,       // name: what the simulator does not do; perhaps " | " and what to do
  UNFILLED_FRAGMENT,   // of WMMA, an accumulator that is used; name: the operation
  BAD_FREE,            // by a kernel, of what it has not allocated; name: the call
};

// Whose mistake it is: that of a thread of the kernel, or of code that runs on the host.
enum class Role : u32 { THREAD, LAUNCHER, INITIALISER, PROGRAM };

// A wait at an mbarrier that has returned at once for no new phase: for one that its thread has
// waited for before, or on a new barrier for the one before the first (-1).
struct EarlyWait {
  u32 pc = 0;  // 0: none
  u32 thread = 0;
  i64 phase = 0;
};

// Plain data, also for ctypes.
struct Finding {
  Kind kind;
  u32 pc = 0, other_pc = 0;  // 0: none
  u32 block = 0, thread = 0;
  Role role = Role::THREAD;
  u64 count = 1;
  i64 number[4] = {};  // of the host's code, 1 to 3: further pcs, outwards; 0: none
  const char* name = nullptr;
  const char* other_name = nullptr;
  EarlyWait early = {};  // what may explain it
};

class Findings {
 public:
  void clear() { list_.clear(); }
  // So many find room without the heap, which a fault of the launcher may leave locked for ever.
  void reserve(size_t count) { list_.reserve(count); }
  // Adds to the count of an equal one (kind and places); keeps the details of the lowest block.
  void add(const Finding& finding);
  void add(const Findings& others);
  void remove(Kind kind);
  // Takes `finding` for one of that kind at the same pc, and keeps its count and thread.
  void change(Kind kind, const Finding& finding);
  bool holds(Kind kind) const;
  const std::vector<Finding>& list() const { return list_; }
  // Explains early reads, in `block`, of what one of these operations fills.
  void explain_reads(u32 block, const std::vector<u32>& operations, const EarlyWait& why);

 private:
  std::vector<Finding> list_;
};

}  // namespace sim
