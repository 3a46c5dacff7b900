// What the processor itself refuses: an address that is no memory, a full stack, a division by
// zero. While a launcher runs, such a signal becomes a finding and ends the block, or the launcher;
// the process, perhaps a notebook, lives on.
#pragma once
#include <csignal>
#include <memory>

#include "worker.h"

namespace sim {

// Stops the kernel that an OS thread runs, if the launch was cancelled and it is in the kernel's
// own code. By default the signal is ignored, so one that comes late does no harm.
constexpr int INTERRUPTION = SIGURG;

// Calls the launcher, which runs on the host and may be wrong, too. If the processor refuses what
// it does, sets `fault` and returns false.
bool call_launcher(int (*entry)(const void*), const void* arguments, const Module& module,
                   int& result, Finding& fault);

// Says that the calling OS thread runs `worker` (null: a launcher), and gives its signal handlers a
// stack of their own.
class FaultStack {
 public:
  explicit FaultStack(Worker* worker);
  ~FaultStack();

 private:
  std::unique_ptr<char[]> memory_;
  stack_t former_ = {};
};

}  // namespace sim
