// One CUDA thread: a stack of its own, run until it has to wait.
#pragma once
#include "../../include/gemmlab_sim/abi.h"
#include "context.h"
#include "event.h"
#include "memory/types.h"

namespace sim {

struct Fiber;
class Worker;
class RegisterWatch;
struct Collective;
struct Condition;
struct Finding;

enum class State : u8 {
  READY,
  AT_BARRIER,     // __syncthreads
  AT_COLLECTIVE,  // an operation of several lanes of its warp
  AT_CONDITION,   // until something outside of its warp has happened
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
  const Condition* condition = nullptr;
};

// What a fiber can wait for outside of its warp: one object for each kind. Operands are those of
// the fiber's Wait.
struct Condition {
  const char* name;  // as it stands in a kernel
  bool (*holds)(Fiber& fiber);
  // Adds to a deadlock's finding who or what is missing.
  void (*describe)(const Fiber& fiber, Finding& finding);
  bool polls = false;  // a loop of the kernel, which may also go on by itself (polling.h)
};

// Of polling.h: what a thread read last, and how many times in a row.
struct LastRead {
  const void* address = nullptr;  // null: it has written since
  u64 value = 0;
  u32 repeats = 0;
};

// Of polling.h: a thread that may be polling.
struct Polling {
  LastRead plain, strong;
  u32 reads = 0;  // strong ones in a row, of any places
  u32 looks = 0;  // waits in a row, each ended by another look, since headway number `epoch`
  u64 epoch = 0;
  u64 anchor = 0;           // the thread's state at one of them
  bool goes_round = false;  // it was in that state again

  // The thread has done something else.
  void forget() { plain.address = strong.address = nullptr; }
};

struct alignas(64) Fiber {
  Event* log_at = nullptr;
  Event* log_end = nullptr;
  Worker* worker = nullptr;
  uintptr_t code = 0;  // where the kernel's library is loaded
  u32 index = 0;       // in the block
  u32 lane = 0;
  // Of clocks.h.
  u32 rank = 0;          // of its block in the cluster
  u32 slot = 0;          // its number in the cluster
  u32 first_slot = 0;    // that of its block's first thread
  u32 stamp = 0;         // its accesses bear this number
  u32 synced = 0;        // stamp of its block's last __syncthreads
  u32* clock = nullptr;  // by slot, the newest stamp it knows; null: no one's since `synced`
  const u32* global_calm = nullptr;    // global_race.h
  RegisterWatch* registers = nullptr;  // wgmma_registers.h; null until it uses wgmma
  Polling polling;
  u32 clock_reads = 0;  // in its block
  // Of access.h, for a journal: what it stored last, until the value is read from there.
  const void* stored = nullptr;
  u32 stored_width = 0, stored_pc = 0;
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
