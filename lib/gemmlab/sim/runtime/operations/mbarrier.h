// mbarriers: barriers in shared memory that count arrivals and bytes (PTX ISA, "Parallel
// Synchronization and Communication Instructions: mbarrier").
//
// A phase ends when `pending` arrivals are 0 and as many bytes have come as were expected; then the
// next one begins. The state is kept here, under the shared address; the bytes there stay opaque.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/mechanism.h"
#include "order/shared_race.h"
#include "memory/types.h"

namespace sim {

class Worker;

struct Mbarrier {
  static constexpr u32 BYTES = 8;                  // also its alignment
  static constexpr i64 MAX_COUNT = (1 << 20) - 1;  // of arrivals, and of bytes that are missing

  bool is_valid = false;  // between init and inval
  u32 address = 0;        // with the rank of its block
  u32 count = 0, pending = 0;
  i64 expected = 0, delivered = 0;  // bytes, in this phase
  u32 phase = 0;
  u32 initialiser = 0, init_stamp = 0, init_pc = 0, init_thread = 0;
  bool is_fenced = false;  // fence.mbarrier_init has followed

  // Copies that end here: those that have not, the phase that the last one belonged to (from 1),
  // and the last phase that someone has waited for.
  u32 copies = 0, filled_phase = 0, waited_phase = 0;
  AsyncOp last_copy = {};
  std::vector<u32> copy_pcs;  // of all that were started
  i64 requested = 0;          // bytes of copies that were started in this phase
  // Of the first phase that ended before all that was requested in it had come; 0: none.
  i64 announced_early = 0, requested_early = 0;
  u32 agent = 0;              // the slot of the copy engine for this barrier (clocks.h), 0 if none
  Clock arriving, completed;  // what is known by those who arrived; by those who wait
  Clock completed_before;     // `completed` of the phase before the last

  // The last arrival's slot and thread; of each thread of the own block, the number of the last
  // phase that it has waited for, from 1; the first wait that has returned for no new one.
  u32 last_slot = 0, last_thread = 0;
  std::vector<u32> waited_by;
  EarlyWait early;
  u32 early_number = 0;  // in the order of such waits of a block

  // Waits for the last phase that is over. A wait names its phase by parity, so each has to come to
  // its end before this phase does.
  struct PhaseWaiter {
    u32 pc, slot, stamp, thread;
  };
  std::vector<PhaseWaiter> waiters;

  void note_arrival(const Fiber& fiber);
  // A wait of `fiber` has returned.
  void note_wait(const Fiber& fiber, u32 pc);
  // Of an arrival that this phase has no room for.
  Finding overrun(const Fiber& fiber, const AsyncOp& op) const;
  // Bytes whose arrival this phase lacks.
  i64 missing_bytes() const { return expected - delivered; }
  // Begins the next phase if this one is complete. `worker`: whose doing that is.
  void advance(Worker& worker);
};

class Mbarriers : public Mechanism {
 public:
  void begin_block(Worker&) override {
    barriers_.clear();
    has_untold_order = false;
    early_waits = 0;
  }
  // Reports copies that nobody has waited for.
  void end_block(Worker& worker) override;
  // Lets early reads say which wait has returned at once.
  void explain(Worker& worker) override;
  // Made at the first call. Stays where it is until the block ends.
  Mbarrier& at(u32 offset) { return barriers_[offset]; }
  // fence.mbarrier_init by the thread `slot`.
  void fence(u32 slot);

  // Whether threads have done what orders them and lets nobody know of it: copies (cp.async) that
  // arrive for their thread come after what it did before, and a wgmma after all of its warps.
  bool has_untold_order = false;
  // Waits that have returned for no new phase, the first at each barrier.
  u32 early_waits = 0;

 private:
  std::unordered_map<u32, Mbarrier> barriers_;  // by offset in shared memory
};

// The barrier at a shared address, also of another block, initialised or not.
Mbarrier& find_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address);
// The initialised barrier at a shared address, also of another block, that `fiber` applies an
// operation to. Gives up the block if there is none.
Mbarrier& use_mbarrier(Fiber& fiber, const AsyncOp& op, u32 address);
// Gives up the block, for the value of an argument.
[[noreturn]] void refuse_mbarrier(Fiber& fiber, Kind kind, const AsyncOp& op, i64 value,
                                  const char* what);
// One arrival of the fiber.
void arrive(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op);
void expect_bytes(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op, u32 bytes);
// A copy into shared memory will end at the barrier (begin), and does so (end). What it writes is
// of the agent `barrier.agent`, with a stamp that `end_copy` returns.
void begin_copy(Fiber& fiber, Mbarrier& barrier, const AsyncOp& op, u32 bytes);
u32 end_copy(Worker& worker, Mbarrier& barrier, u32 bytes);

}  // namespace sim
