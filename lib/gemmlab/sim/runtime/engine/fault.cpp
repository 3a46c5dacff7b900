#include "fault.h"

#include <ucontext.h>
#include <unwind.h>

namespace sim {

namespace {

constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, INTERRUPTION};
constexpr int SIGNAL_COUNT = sizeof(SIGNALS) / sizeof(SIGNALS[0]);
constexpr size_t STACK = 1 << 16;
struct sigaction former[SIGNAL_COUNT];

struct HostCall {
  const Module* module;
  sigjmp_buf after_fault;
  Finding fault;
};
// What this OS thread runs, if it is ours.
thread_local Worker* this_worker = nullptr;
thread_local HostCall* this_call = nullptr;

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

// Where in the library the calls stand that led here, from the innermost outwards: the first place.
uintptr_t calling_instruction(const Module& module) {
  struct Search {
    const Module& module;
    uintptr_t found;
  } search = {module, 0};
  const auto visit = [](_Unwind_Context* frame, void* data) {
    Search& search = *static_cast<Search*>(data);
    const uintptr_t pc = _Unwind_GetIP(frame);
    if (pc - search.module.code >= search.module.code_bytes) return _URC_NO_REASON;
    search.found = pc - 1;  // of the call, not of what comes after it
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(visit, &search);
  return search.found;
}

Finding describe(int signal, const siginfo_t& info) {
  if (signal == SIGFPE) return {Kind::DIVISION_BY_ZERO};
  // A fiber's stack ends in a guard page.
  if (stacks.contains(info.si_addr)) return {Kind::STACK_OVERFLOW};
  Finding finding = {Kind::BAD_ADDRESS};
  finding.number[0] = i64(reinterpret_cast<uintptr_t>(info.si_addr));
  // Where the address is not even one, the processor does not say which it was.
  finding.number[1] = info.si_code == SEGV_MAPERR || info.si_code == SEGV_ACCERR;
  return finding;
}

[[noreturn]] void leave_launcher(HostCall& call, uintptr_t pc) {
  call.fault = {Kind::LAUNCHER_FAULT};
  const uintptr_t offset = pc - call.module->code;
  if (offset < call.module->code_bytes) call.fault.pc = u32(offset) + 1;
  siglongjmp(call.after_fault, 1);
}

void handle(int signal, siginfo_t* info, void* context) {
  const uintptr_t pc = instruction(context);
  if (signal == INTERRUPTION) {
    if (this_worker && hooks & HOOKS_CANCEL && this_worker->is_in_kernel(pc))
      this_worker->interrupt(pc);
    return;  // it is sent again
  }
  // What the runtime or the C library does for a kernel may fail, too.
  const auto place = [pc](const Module& module) {
    return pc - module.code < module.code_bytes ? pc : calling_instruction(module);
  };
  if (this_worker)
    this_worker->fault(describe(signal, *info), place(*this_worker->launch().module));
  if (this_call) leave_launcher(*this_call, place(*this_call->module));
  // Another thread's fault is none of ours: with the former handler back, it happens again.
  for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
}

// Installs the handlers, and puts the former ones back.
class Handlers {
 public:
  Handlers() {
    struct sigaction ours = {};
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &ours, &former[i]);
  }
  ~Handlers() {
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
  }
};

}  // namespace

bool call_launcher(int (*entry)(const void*), const void* arguments, const Module& module,
                   int& result, Finding& fault) {
  HostCall call = {&module, {}, {}};
  Handlers handlers;
  FaultStack stack(nullptr);
  this_call = &call;
  bool finished = false;
  if (sigsetjmp(call.after_fault, 1) == 0) {
    try {
      result = entry(arguments);
      finished = true;
    } catch (...) {
      call.fault = {Kind::LAUNCHER_FAULT};
      call.fault.number[0] = true;
    }
  }
  fault = call.fault;
  this_call = nullptr;
  return finished;
}

FaultStack::FaultStack(Worker* worker) : memory_(new char[STACK]) {
  this_worker = worker;
  stack_t ours = {};
  ours.ss_sp = memory_.get();
  ours.ss_size = STACK;
  sigaltstack(&ours, &former_);
}

FaultStack::~FaultStack() {
  this_worker = nullptr;
  sigaltstack(&former_, nullptr);
}

}  // namespace sim
