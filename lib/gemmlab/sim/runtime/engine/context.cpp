// The switch is about 20 instructions: push what the calling convention says a function must
// preserve, change the stack pointer, pop. ucontext (-DGEMMLAB_SIM_UCONTEXT) does the same
// anywhere, but also saves the signal mask with a system call, and takes 20 times as long.
#include "context.h"

#include <cstring>

#ifdef GEMMLAB_SIM_UCONTEXT
#include <ucontext.h>

#include <new>
#endif

#if !defined(GEMMLAB_SIM_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#error "no stack switch for this processor: build with -DGEMMLAB_SIM_UCONTEXT"
#endif

namespace sim {

#ifdef GEMMLAB_SIM_UCONTEXT

void prepare(Context& context, char* stack_low, char* stack_top, void (*entry)()) {
  // At the end of its stack, as that of a suspended one is somewhere on its own.
  constexpr size_t BYTES = (sizeof(ucontext_t) + 63) / 64 * 64;
  auto* start = new (stack_top - BYTES) ucontext_t;
  getcontext(start);
  start->uc_stack.ss_sp = stack_low;
  start->uc_stack.ss_size = static_cast<size_t>(stack_top - BYTES - stack_low);
  start->uc_link = nullptr;
  makecontext(start, entry, 0);
  context.saved = start;
}

void switch_context(Context& from, Context& to) {
  ucontext_t here;
  from.saved = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to.saved));
}

#elif defined(__x86_64__)

asm(R"(
.text
.globl gemmlab_sim_switch
.hidden gemmlab_sim_switch
.type gemmlab_sim_switch,@function
gemmlab_sim_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov (%rsi), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");

void prepare(Context& context, char*, char* stack_top, void (*entry)()) {
  void** top = reinterpret_cast<void**>(stack_top);
  *--top = nullptr;  // entry's return address: ends a debugger's backtrace, aligns the stack
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;  // the six registers
  context.saved = top;
}

#else  // __aarch64__

asm(R"(
.text
.globl gemmlab_sim_switch
.hidden gemmlab_sim_switch
.type gemmlab_sim_switch,%function
gemmlab_sim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  ldr x9, [x1]
  mov sp, x9
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");

void prepare(Context& context, char*, char* stack_top, void (*entry)()) {
  constexpr size_t FRAME = 160, LINK_REGISTER = 88;
  char* frame = stack_top - FRAME;
  std::memset(frame, 0, FRAME);
  std::memcpy(frame + LINK_REGISTER, &entry, sizeof entry);
  context.saved = frame;
}

#endif

}  // namespace sim
