#include "fault.h"

#include <ucontext.h>

namespace sim {

namespace {

constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int SIGNAL_COUNT = 3;
constexpr size_t STACK = 1 << 16;
struct sigaction former[SIGNAL_COUNT];
thread_local Worker* this_worker = nullptr;

uintptr_t instruction(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return uintptr_t(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return uintptr_t(machine.pc);
#else
  return 0;
#endif
}

Kind kind_of(int signal, const siginfo_t& info) {
  if (signal == SIGFPE) return Kind::DIVISION_BY_ZERO;
  // A fiber's stack ends in a guard page.
  return stacks.contains(info.si_addr) ? Kind::STACK_OVERFLOW : Kind::BAD_ADDRESS;
}

void handle(int signal, siginfo_t* info, void* context) {
  if (this_worker) this_worker->fault(kind_of(signal, *info), instruction(context));
  // Another thread's fault is none of ours: with the former handler back, it happens again.
  for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
}

}  // namespace

FaultHandlers::FaultHandlers() {
  struct sigaction ours = {};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &ours, &former[i]);
}

FaultHandlers::~FaultHandlers() {
  for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
}

FaultStack::FaultStack(Worker& worker) : memory_(new char[STACK]) {
  this_worker = &worker;
  stack_t stack = {};
  stack.ss_sp = memory_.get();
  stack.ss_size = STACK;
  sigaltstack(&stack, nullptr);
}

FaultStack::~FaultStack() {
  this_worker = nullptr;
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
}

}  // namespace sim
