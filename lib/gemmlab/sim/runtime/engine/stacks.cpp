#include "stacks.h"

#include <sys/mman.h>
#include <unistd.h>

namespace sim {

Stacks stacks;

bool Stacks::reserve() {
  if (base_) return true;
  // One stack more than needed, to cut at a multiple of the stack size.
  void* got = mmap(nullptr, (COUNT + 1) * STACK_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return false;
  const uintptr_t aligned = (uintptr_t(got) + STACK_BYTES - 1) & ~(STACK_BYTES - 1);
  base_ = reinterpret_cast<char*>(aligned);
  return true;
}

bool Stacks::open(u32 slot, Fiber* owner) {
  const size_t guard = size_t(sysconf(_SC_PAGESIZE));
  if (!owners_[slot] &&
      mprotect(low(slot) + guard, STACK_BYTES - guard, PROT_READ | PROT_WRITE) != 0)
    return false;
  owners_[slot] = owner;
  return true;
}

}  // namespace sim
