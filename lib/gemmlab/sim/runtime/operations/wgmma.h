// wgmma: a warpgroup's matrix products that its threads do not wait for until they say so. PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//
// All four warps come to an instruction before any goes on. What it does is put off to the latest
// moment that is allowed: shared memory is read when the first of the four warps waits for it, a
// warp's registers are read and written when that warp does. So a missing wait shows in the result.
//
// A group is the whole warpgroup's ("wgmma.commit_group"): a warp that has waited for it knows that
// the parts of the other three read shared memory no more.
#pragma once
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "../../include/gemmlab_sim/abi_wgmma.h"
#include "engine/mechanism.h"
#include "wgmma_descriptor.h"
#include "wgmma_registers.h"

namespace sim {

constexpr u32 GROUP_WARPS = 4, GROUP_THREADS = GROUP_WARPS * WARP;
constexpr u32 WARP_ROWS = 16;  // of A and D, for each warp

// One call of a thread.
struct WgmmaCall {
  u32 form;
  float* d;
  const u32* a;
  u64 desc_a, desc_b;
  uintptr_t lowest;  // on its stack: the arrays of functions that have not returned are above
  u64 number = 0;    // of the operation
  bool is_refused = false;
  Finding why = {};
};

inline WgmmaCall& wgmma_call_of(const Fiber& fiber) {
  return *static_cast<WgmmaCall*>(fiber.wait.operands);
}

class Wgmma : public Mechanism {
 public:
  static constexpr const char* NAME = "wgmma";

  void begin_block(Worker& worker) override;
  void end_block(Worker& worker) override;

  // The registers of a thread, watched from here on.
  RegisterWatch& watch(Fiber& fiber);

  // ---- by a whole warp; fibers: its 32 lanes ----
  void start(Worker& worker, Fiber* fibers);
  void commit(const Fiber* fibers);
  // lowest: by lane, as in WgmmaCall.
  void wait(Worker& worker, Fiber* fibers, u32 newest, const uintptr_t* lowest);

  // Whether all four warps have come to an operation; if not, the first one that has not.
  bool is_complete(const Fiber& fiber, u64 number);
  u32 missing_warp(const Fiber& fiber, u64 number);

 private:
  // As many can be unfinished. PTX sets no limit; this one keeps an endless loop's memory small.
  static constexpr u32 MOST_UNFINISHED = 256;

  struct Operation {
    u32 pc = 0;
    int line = 0;
    u32 form = 0;
    u64 desc_a = 0, desc_b = 0;
    const SharedOperand *a = nullptr, *b = nullptr;  // a: null if in registers
    u32 arrived = 0, finished = 0;                   // warps
    u32 stamp = 0;                                   // of its reads, once it has been done
    std::vector<float> a_tile, b_tile;               // what it has read: (64, 16) and (16, n)
    float* d[GROUP_THREADS] = {};
    const u32* a_registers[GROUP_THREADS] = {};

    u32 n() const { return form & SIM_WGMMA_N; }
    bool has(SimWgmma flag) const { return form & flag; }
    bool is_same(const WgmmaCall& call) const {
      return form == call.form && desc_a == call.desc_a && desc_b == call.desc_b;
    }
  };
  struct WarpState {
    u64 started = 0, finished = 0;
    std::deque<u64> groups;  // ends of those committed and not waited for
  };
  struct Warpgroup {
    std::deque<Operation> operations;
    u64 first = 0;  // number of the oldest one
    u32 agent = 0;  // clocks.h: reads shared memory; 0: not yet
    WarpState warps[GROUP_WARPS];
    Operation& operation(u64 number) { return operations[number - first]; }
  };

  Warpgroup& group_of(const Fiber& fiber) { return groups_[fiber.index / GROUP_THREADS]; }
  static WarpState& warp_of(Warpgroup& group, const Fiber& fiber) {
    return group.warps[fiber.index / WARP % GROUP_WARPS];
  }
  bool check_lanes(Fiber* fibers);
  bool open(Worker& worker, Warpgroup& group, Fiber* fibers);
  const SharedOperand* operand(Worker& worker, u64 descriptor, u32 rows, bool mn_major);
  bool check_operand(Worker& worker, Fiber* fibers, const SharedOperand& operand, u32 which);
  void begin_reads(Worker& worker, Warpgroup& group, const Operation& operation, Fiber* fibers);
  void count_reads(Worker& worker, const Operation& operation);
  void end_reads(Worker& worker, Warpgroup& group, Operation& operation, Fiber& waiter);
  void finish(Worker& worker, Fiber* fibers, u64 end, const uintptr_t* lowest);
  // wgmma_multiply.cpp
  static void read(const SharedMemory& memory, Operation& operation);
  static void multiply(const Operation& operation, const Fiber* fibers, const uintptr_t* lowest);

  std::vector<Warpgroup> groups_;
  std::vector<RegisterWatch> watches_;                            // by thread
  std::map<std::tuple<u64, u32, bool>, SharedOperand> operands_;  // by descriptor, rows, order
};

}  // namespace sim
