// A suspended flow of control, and the switch from one to another.
#pragma once
#include "memory/types.h"

#ifdef GEMMLAB_SIM_UCONTEXT
#include <ucontext.h>
#endif

namespace sim {

struct Context {
#ifdef GEMMLAB_SIM_UCONTEXT
  ucontext_t saved;
  void prefetch() const {}
#else
  void* stack_pointer = nullptr;  // everything else is on the stack
  void prefetch() const {
    for (int i = 0; i < 4; ++i) __builtin_prefetch(static_cast<char*>(stack_pointer) + 64 * i);
  }
#endif
};

// Makes `context` start in entry(), which must never return, on the stack that ends at stack_top
// (a multiple of 16).
void prepare(Context& context, char* stack_low, char* stack_top, void (*entry)());

// Saves where we are in `from` and continues in `to`.
void switch_context(Context& from, Context& to);

}  // namespace sim
