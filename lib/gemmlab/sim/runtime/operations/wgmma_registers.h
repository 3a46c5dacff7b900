// The registers that a thread has lent to the tensor core.
//
// From its start to the wait, a wgmma may read and write its accumulators, and read its fragment of
// A, at any moment: the thread must leave them alone. And before it starts, a wgmma_fence() has to
// come after the thread's own last use of them; wgmmas of one shape need none between them to use
// the same accumulators (PTX ISA, "wgmma.fence", "wgmma.wait_group").
//
// A kernel's arrays stand on its fiber's stack. Their addresses have gone to the runtime, so the
// compiler reports every access to them (access.h); those are looked at from a fiber's first wgmma
// instruction on.
#pragma once
#include <vector>

#include "memory/types.h"

namespace sim {

struct Fiber;
enum class Access : u32;  // access.h

class RegisterWatch {
 public:
  struct Registers {
    uintptr_t begin, end;
    Registers(const void* array, u32 bytes) : begin(uintptr_t(array)), end(begin + bytes) {}
    bool overlaps(const Registers& other) const { return begin < other.end && other.begin < end; }
  };

  void begin_block();
  // wgmma_fence()
  void fence();
  // The `number`-th wgmma of this thread uses `n` columns of accumulators.
  void start(const Fiber& fiber, u32 pc, u64 number, const float* d, const u32* a, u32 n);
  // Those with lower numbers have been waited for.
  void finish(u64 number);
  // The kernel itself reads or writes memory that is neither global nor shared.
  void touch(const Fiber& fiber, const Registers& memory, Access access, u32 pc);
  // Whether a use of lent registers was reported.
  bool has_reported() const { return has_reported_; }

 private:
  struct Loan {
    Registers registers;
    u64 number;  // of the last wgmma that has them
    u32 pc;
    u32 n;  // columns, 0: a fragment of A
    bool fenced;
  };
  struct Touch {
    Registers registers;
    u32 pc;
  };

  void lend(const Fiber& fiber, const Registers& registers, u32 pc, u64 number, u32 n);
  void report_missing_fence(const Fiber& fiber, u32 pc, u32 other_pc) const;

  std::vector<Loan> loans_;
  std::vector<Touch> touched_;  // since the last fence
  bool has_fenced_ = false, has_reported_ = false;
};

}  // namespace sim
