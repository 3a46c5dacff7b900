// A suspended flow of control, and the switch from one to another.
#pragma once
#include "memory/types.h"

namespace sim {

// One word, however it is switched (context.cpp), so that only that file is compiled twice.
struct Context {
  void* saved = nullptr;  // on the stack of what is suspended, where everything is
  void prefetch() const {
    for (int i = 0; i < 4; ++i) __builtin_prefetch(static_cast<char*>(saved) + 64 * i);
  }
};

// Makes `context` start in entry(), which must never return, on the stack that ends at stack_top
// (a multiple of 16).
void prepare(Context& context, char* stack_low, char* stack_top, void (*entry)());

// Saves where we are in `from` and continues in `to`.
void switch_context(Context& from, Context& to) __asm__("gemmlab_sim_switch")
    __attribute__((visibility("hidden")));

}  // namespace sim
