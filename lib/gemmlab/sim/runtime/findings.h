// What is wrong with a kernel, by the places in its code. Sentences are made from this in Python
// (gemmlab/sim/findings.py), which knows the same kinds in the same order.
#pragma once
#include <vector>

#include "types.h"

namespace sim {

enum class Kind : u32 {
  RACE_READ_WRITE,       // pc: the write, other_pc: the read
  RACE_WRITE_WRITE,      // both write
  UNINITIALISED_READ,    // of shared memory
  OUT_OF_BOUNDS_GLOBAL,  // number: width, is a write, buffer, bytes past its end (< 0: before it)
  OUT_OF_BOUNDS_SHARED,  // number: width, is a write
  OUT_OF_BOUNDS_INDEX,   // number: the index; name: the array's type
  MISALIGNED,            // number: width, is a write, bytes past a multiple of the width
  DIVERGENT_BARRIER,     // other_pc: where others wait; or number: threads that have returned
  DIVERGENT_COLLECTIVE,  // names: the operations; number: lanes waiting, lanes awaited
  INACTIVE_SOURCE,       // name: the operation; number: the lane that it reads
  NOT_IN_MASK,           // name: the operation; number: the calling lane
  DEADLOCK,              // names: the operations; number: lanes waiting, lanes awaited
  BAD_ADDRESS,           // a fault of the machine: an address that is no memory at all
  STACK_OVERFLOW,        // of a thread's local arrays
  DIVISION_BY_ZERO,
  CANCELLED,
  // Of asynchronous operations (gemmlab/sim/async_sentences.py); name: the operation.
  READ_BEFORE_WAIT,        // pc: the read, other_pc: the operation that fills the memory
  WRITE_BEFORE_WAIT,       // pc: the write, other_pc: the operation that fills the memory
  OVERWRITTEN_WHILE_READ,  // pc: the write, other_pc: the operation that still reads
  COPY_OVERWRITES,         // pc: the operation, other_pc: an access that nothing orders before it
  MISSING_PROXY_FENCE,     // pc: the operation, other_pc: the write that it may not see
  UNFINISHED,              // pc: the operation, which nobody has waited for
  STUCK,                   // pc: a wait that will never end; number, other_pc: by its `describe`
};

// Plain data, also for ctypes.
struct Finding {
  Kind kind;
  u32 pc = 0, other_pc = 0;  // 0: none
  u32 block = 0, thread = 0;
  u32 reserved = 0;
  u64 count = 1;
  i64 number[4] = {};
  const char* name = nullptr;
  const char* other_name = nullptr;
};

class Findings {
 public:
  void clear() { list_.clear(); }
  // Adds to the count of an equal one (kind and places); keeps the details of the lowest block.
  void add(const Finding& finding);
  void add(const Findings& others);
  const std::vector<Finding>& list() const { return list_; }

 private:
  std::vector<Finding> list_;
};

}  // namespace sim
