#include "fault.h"

#include <cxxabi.h>
#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>

#include "watchdog.h"

namespace sim {

namespace {

constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, INTERRUPTION};
constexpr int SIGNAL_COUNT = sizeof(SIGNALS) / sizeof(SIGNALS[0]);
constexpr size_t STACK = 1 << 16;
struct sigaction former[SIGNAL_COUNT];

struct HostCall {
  HostCode code;
  pthread_t thread;
  sigjmp_buf after_fault;
  Finding fault;
  bool left = false;  // by exit(status)
  int status = 0;
  std::atomic<bool> uninterrupted{false}, given_up{false};
};
// What this OS thread runs, if it is ours.
thread_local Worker* this_worker = nullptr;
thread_local HostCall* this_call = nullptr;
// The same call, for other threads.
std::mutex call_mutex;
HostCall* current_call = nullptr;

struct Place {
  uintptr_t instruction, stack;
};

Place place_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {uintptr_t(machine.gregs[REG_RIP]), uintptr_t(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {uintptr_t(machine.pc), uintptr_t(machine.sp)};
#else
  return {};
#endif
}

// Where in the library the calls stand that led here, from the innermost outwards, `most` of them.
// Returns how many there are.
u32 calling_instructions(const Module& module, uintptr_t* places, u32 most) {
  struct Search {
    const Module& module;
    uintptr_t* places;
    u32 most, found;
  } search = {module, places, most, 0};
  const auto visit = [](_Unwind_Context* frame, void* data) {
    Search& search = *static_cast<Search*>(data);
    const uintptr_t pc = _Unwind_GetIP(frame);
    if (pc - search.module.code >= search.module.code_bytes) return _URC_NO_REASON;
    search.places[search.found++] = pc - 1;  // of the call, not of what comes after it
    return search.found < search.most ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(visit, &search);
  return search.found;
}

uintptr_t calling_instruction(const Module& module) {
  uintptr_t place = 0;
  calling_instructions(module, &place, 1);
  return place;
}

// What the runtime or the C library does for a kernel may fail, too: then, where it was called.
uintptr_t place_in(const Module& module, uintptr_t pc) {
  return pc - module.code < module.code_bytes ? pc : calling_instruction(module);
}

Finding describe(int signal, const siginfo_t& info, uintptr_t stack_pointer) {
  if (signal == SIGFPE) return {Kind::DIVISION_BY_ZERO};
  Finding finding = {Kind::ENDED};
  finding.name = signal == SIGABRT ? "abort()" : "an instruction that the processor does not have";
  if (signal == SIGABRT || signal == SIGILL) return finding;
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  // A fiber's stack ends in a guard page, and so does the launcher's.
  const bool is_host = this_call != nullptr;
  const bool near_stack = address - (stack_pointer - STACK) < 2 * STACK;
  if (is_host ? near_stack : stacks.contains(info.si_addr)) return {Kind::STACK_OVERFLOW};
  finding.kind = is_host ? Kind::LAUNCHER_FAULT : Kind::BAD_ADDRESS;
  finding.name = nullptr;
  finding.number[0] = i64(address);
  // Where the address is not even one, the processor does not say which it was.
  finding.number[1] = info.si_code == SEGV_MAPERR || info.si_code == SEGV_ACCERR;
  return finding;
}

Finding endless() {
  Finding finding = {Kind::ENDLESS_LOOP};
  finding.number[0] = i64(1000 * budget_seconds);
  return finding;
}

[[noreturn]] void leave_host(HostCall& call, Finding finding, uintptr_t pc) {
  finding.role = call.code.role;
  Module loading;
  const Module* module = call.code.module;
  if (!module && find_library(call.code.path, loading)) module = &loading;
  if (module) {
    // The reader's line may be further out than the first: that of a template's caller.
    constexpr u32 OUTER = 3;
    uintptr_t places[1 + OUTER];
    const u32 found = calling_instructions(*module, places, 1 + OUTER);
    const bool is_inside = pc - module->code < module->code_bytes;
    if (is_inside || found) finding.pc = u32((is_inside ? pc : places[0]) - module->code) + 1;
    for (u32 i = 1; i < found; ++i) finding.number[i] = i64(places[i] - module->code) + 1;
  }
  call.fault = finding;
  siglongjmp(call.after_fault, 1);
}

void handle(int signal, siginfo_t* info, void* context) {
  const Place at = place_of(context);
  const uintptr_t pc = at.instruction;
  if (signal == INTERRUPTION) {
    if (this_worker && hooks & HOOKS_CANCEL && this_worker->is_in_kernel(pc))
      this_worker->interrupt(pc);
    if (this_call && this_call->given_up && !this_call->uninterrupted)
      leave_host(*this_call, endless(), pc);
    return;  // it is sent again
  }
  const Finding finding = describe(signal, *info, at.stack);
  if (this_worker) this_worker->fault(finding, place_in(*this_worker->launch().module, pc));
  if (this_call) leave_host(*this_call, finding, pc);
  // Another thread's fault is none of ours: with the former handler back, it happens again.
  for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
}

// The exception that is on its way, in words; null if there is none.
const char* exception_in_words() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (!type) return nullptr;
  int status = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = readable ? readable : type->name();
  std::free(readable);
  try {
    throw;
  } catch (const std::exception& error) {
    if (text != error.what()) text += std::string(": ") + error.what();
  } catch (...) {
  }
  return kept(text);
}

std::terminate_handler former_terminate;

// Nobody catches the exception, so the stack is as it was where it was thrown.
void on_terminate() {
  Finding finding = {Kind::THROWN};
  if (this_worker || this_call) {
    finding.name = exception_in_words();
    // A launcher's place is looked for there.
    const uintptr_t pc = this_worker ? calling_instruction(*this_worker->launch().module) + 1 : 0;
    stop_caller(finding, reinterpret_cast<void*>(pc));
  }
  former_terminate();
  std::abort();
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
    former_terminate = std::set_terminate(on_terminate);
  }
  ~Handlers() {
    std::set_terminate(former_terminate);
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
  }
};

void set_current(HostCall* call) {
  const std::lock_guard lock(call_mutex);
  this_call = current_call = call;
}

}  // namespace

bool call_host(const HostCode& code, int (*entry)(const void*), const void* arguments, int& result,
               Finding& fault) {
  HostCall call;
  call.code = code;
  call.thread = pthread_self();
  Handlers handlers;
  FaultStack stack(nullptr);
  set_current(&call);
  volatile bool finished = false;
  if (sigsetjmp(call.after_fault, 1) == 0) {
    result = entry(arguments);
    finished = true;
  }
  set_current(nullptr);
  fault = call.fault;
  if (call.left) result = call.status;
  return finished || call.left;
}

void give_up_host() {
  const std::lock_guard lock(call_mutex);
  if (!current_call || current_call->uninterrupted) return;
  current_call->given_up = true;
  pthread_kill(current_call->thread, INTERRUPTION);
}

Uninterrupted::Uninterrupted() {
  if (!this_call) return;
  former_ = this_call->uninterrupted;
  this_call->uninterrupted = true;
}

Uninterrupted::~Uninterrupted() {
  if (!this_call) return;
  this_call->uninterrupted = former_;
  if (this_call->given_up && !former_) leave_host(*this_call, endless(), 0);
}

void stop_caller(Finding finding, const void* return_address) {
  if (Fiber* fiber = running_fiber()) {
    finding.pc = fiber->pc_of(return_address);
    fiber->worker->abandon(*fiber, finding);
  }
  if (this_call) leave_host(*this_call, finding, uintptr_t(return_address) - 1);
}

void stop_incomplete(const char* what, const void* return_address) {
  Finding finding = {Kind::NOT_SIMULATED};
  finding.name = what;
  stop_caller(finding, return_address);
  __builtin_trap();
}

void leave_program(int status) {
  if (running_fiber() || !this_call || this_call->code.role != Role::PROGRAM) return;
  this_call->left = true;
  this_call->status = status;
  siglongjmp(this_call->after_fault, 1);
}

const char* kept(std::string text) {
  static std::mutex mutex;
  static std::deque<std::string> texts;
  const std::lock_guard lock(mutex);
  texts.push_back(std::move(text));
  return texts.back().c_str();
}

FaultStack::FaultStack(Worker* worker) {
  // Not from the heap, which a fault may leave locked for ever.
  static thread_local char memory[STACK];
  this_worker = worker;
  stack_t ours = {};
  ours.ss_sp = memory;
  ours.ss_size = STACK;
  sigaltstack(&ours, &former_);
}

FaultStack::~FaultStack() {
  this_worker = nullptr;
  sigaltstack(&former_, nullptr);
}

}  // namespace sim
