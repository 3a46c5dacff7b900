// One CUDA thread: a stack of its own, run until it has to wait.
#pragma once
#include "../include/gemmlab_sim/abi.h"
#include "context.h"
#include "event.h"
#include "types.h"

namespace sim {

class Worker;
struct Collective;

enum class State : u8 {
  READY,
  AT_BARRIER,     // __syncthreads
  AT_COLLECTIVE,  // an operation of several lanes of its warp
  LOG_FULL,
  DONE,
};

// What a fiber waits for. The line tells calls apart where the compiler has copied one call: equal
// lines are one barrier, whatever the program counter.
struct Wait {
  u32 pc = 0;
  int line = 0;
  const Collective* what = nullptr;
  u32 mask = 0;              // lanes that take part
  void* operands = nullptr;  // this lane's, on its stack
};

struct alignas(64) Fiber {
  Event* log_at = nullptr;
  Event* log_end = nullptr;
  Worker* worker = nullptr;
  uintptr_t code = 0;  // where the kernel's library is loaded
  u32 index = 0;       // in the block
  u32 lane = 0;
  u32 stamp = 0;         // its accesses bear this number (race.h)
  u32* clock = nullptr;  // per thread, the newest stamp it has waited for; null: no one since the
                         // last barrier of the block
  State state = State::DONE;
  SimIndex thread = {};
  Wait wait;
  Context context;

  // The program counter of a call from the kernel, as an offset in its library.
  u32 pc_of(const void* return_address) const {
    return u32(reinterpret_cast<uintptr_t>(return_address) - code);
  }
};

}  // namespace sim
