// What ends a kernel, or the code of the host around it, from outside or from within: an address
// that is no memory, a full stack, a division by zero, abort(), an exception that nobody catches.
// While a launcher runs, that becomes a finding and ends the block, or the launcher; the process
// lives on, if its memory is still in order.
#pragma once
#include <csignal>
#include <string>

#include "worker.h"

namespace sim {

// Stops the kernel that an OS thread runs, if the launch was cancelled and it is in the kernel's
// own code; or the launcher, if it was given up. By default the signal is ignored, so one that
// comes late does no harm.
constexpr int INTERRUPTION = SIGURG;

// Calls code of the host, which may be wrong, too. module: the library that it is in; null, if the
// call loads the library from `path`. If the call does not come to its end, sets `fault` and
// returns false.
struct HostCode {
  Role role;
  const Module* module;
  const char* path;
};
bool call_host(const HostCode& code, int (*entry)(const void*), const void* arguments, int& result,
               Finding& fault);

// From another thread: the host's code makes no headway and has to end. Does nothing while it
// waits for a launch, whose watchdog looks after it.
void give_up_host();

// What the runtime does for the host's code is not interrupted.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();

 private:
  bool former_ = false;
};

// Ends the thread, or the host's code, that has called the runtime from `return_address`. Returns
// if it is neither: a thread that the launcher has started.
void stop_caller(Finding finding, const void* return_address);

// Stops the thread that has called the runtime from there: what follows is not run. what: not
// simulated; perhaps " | " and what to do.
[[noreturn]] void stop_incomplete(const char* what, const void* return_address);

// Ends a program's host code as exit(status) does. Returns if it is none.
void leave_program(int status);

// Text that lives as long as findings do.
const char* kept(std::string text);

// Says that the calling OS thread runs `worker` (null: a launcher), and gives its signal handlers a
// stack of their own.
class FaultStack {
 public:
  explicit FaultStack(Worker* worker);
  ~FaultStack();

 private:
  stack_t former_ = {};
};

}  // namespace sim
