// What the processor itself refuses: an address that is no memory, a full stack, a division by
// zero. While a launch runs, such a signal in a fiber ends its block and becomes a finding; the
// process, perhaps a notebook, lives on.
#pragma once
#include <csignal>
#include <memory>

#include "worker.h"

namespace sim {

// Installs the handlers, and puts the former ones back.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
};

// Says that the calling OS thread runs `worker`, and gives its handlers a stack of their own.
class FaultStack {
 public:
  explicit FaultStack(Worker& worker);
  ~FaultStack();

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace sim
