#include "program.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "fault.h"
#include "limits.h"
#include "output.h"

namespace sim {

namespace {

// What the library calls a kernel; null if it does not name it.
const char* symbol_of(const void* kernel) {
  Dl_info info;
  if (!dladdr(kernel, &info) || !info.dli_sname || info.dli_saddr != kernel) return nullptr;
  int status = 0;
  char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  const std::string text = readable ? readable : info.dli_sname;
  std::free(readable);
  return kept(text);
}

bool equal(SimIndex a, SimIndex b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool equal(const char* a, const char* b) { return a == b || (a && b && !std::strcmp(a, b)); }

bool is_like(const Record& record, const SimLaunch& launch) {
  const RecordRow& row = record.row;
  return record.kernel == launch.kernel && (!launch.name || equal(row.name, launch.name)) &&
         equal(row.grid, launch.grid) && equal(row.block, launch.block) &&
         equal(row.cluster, launch.cluster) && row.dynamic_bytes == launch.dynamic_bytes;
}

Record& record_of(const SimLaunch& launch) {
  for (const auto& record : session.records)
    if (is_like(*record, launch)) return *record;
  auto record = std::make_unique<Record>();
  const KernelFacts* facts = session.module->facts(launch.kernel);
  record->kernel = launch.kernel;
  record->row = {launch.name ? launch.name : symbol_of(launch.kernel),
                 launch.file,
                 u32(launch.line),
                 launch.grid,
                 launch.block,
                 launch.cluster,
                 launch.dynamic_bytes,
                 facts ? facts->static_bytes : 0,
                 0,
                 0,
                 nullptr};
  session.records.push_back(std::move(record));
  return *session.records.back();
}

}  // namespace

Results& results_of(const SimLaunch& launch) {
  if (!session.is_program) return session.results;
  Record& record = record_of(launch);
  ++record.row.runs;
  return record.results;
}

void note_refusal(const SimLaunch& launch, int error) {
  if (!session.is_program) return;
  RecordRow& row = record_of(launch).row;
  row.error = error;
  row.reason = kept(last_error.reason);
}

void end_launch() { output.end_launch(); }

void stop_cancelled_program() {
  if (hooks & HOOKS_CANCEL) leave_program(0);
}

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

// To be called after gemmlab_sim_begin where a program's main() is called instead of a launcher.
void gemmlab_sim_begin_program() {
  sim::session.is_program = true;
  sim::output.begin_program();
}

uint32_t gemmlab_sim_records() { return uint32_t(sim::session.records.size()); }
// From here on counts, samples and findings are those of a record, or of the host's code (-1).
void gemmlab_sim_show(int number, sim::RecordRow* row) {
  sim::session.shown = &sim::session.results;
  if (number < 0) return;
  sim::session.shown = &sim::session.records[size_t(number)]->results;
  *row = sim::session.records[size_t(number)]->row;
}

void sim_not_simulated(const char* what) {
  sim::stop_incomplete(what, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop
