// What Python asks of the runtime at a time: the run of one launcher, or of one program.
#pragma once
#include <memory>
#include <vector>

#include "grid.h"
#include "module.h"

namespace sim {

// A launch: its blocks, the shared memory and the threads of one, the kernel, as an offset in its
// library, and how many of its blocks were run.
struct LaunchRow {
  u64 blocks, shared_bytes, threads, kernel, run;
};

// The launches of one kernel, at one size, that a program makes; what is counted is their sum.
// Plain data, also for ctypes.
struct RecordRow {
  const char *name, *file;  // where the program launches it first; null: not known
  u32 line;
  SimIndex grid, block, cluster;
  u64 dynamic_bytes, static_bytes, runs;
  int error;           // of a launch that was refused; 0: it ran
  const char* reason;  // why
};
struct Record {
  const void* kernel;
  RecordRow row;
  Results results;
};

// One launcher runs at a time; Python holds a lock.
struct Session {
  std::vector<std::unique_ptr<Module>> modules;
  const Module* module = nullptr;
  bool traced = false, journal = false, values = false;
  bool is_program = false;  // main() is called, and each launch has a result of its own
  u32 workers = 1, order = 0;
  u64 most_clusters = 0;  // that are run of each launch, the first ones; 0: all
  Results results;        // of all launches; of a program, of its host's code
  std::vector<std::unique_ptr<Record>> records;  // of a program's launches
  const Results* shown = &results;               // which Python reads
  std::vector<LaunchRow> launches;
};
extern Session session;

}  // namespace sim
