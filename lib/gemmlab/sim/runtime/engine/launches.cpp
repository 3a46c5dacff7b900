#include "launches.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "fault.h"
#include "limits.h"
#include "memory/heap.h"
#include "operations/grid_dependency.h"
#include "operations/host_waits.h"
#include "output.h"
#include "program.h"

namespace sim {

namespace {
std::recursive_mutex device_mutex;
}

DeviceTurn::DeviceTurn() : lock_(device_mutex, std::defer_lock) {
  if (session.is_program && !running_fiber()) lock_.lock();
}

namespace {

// More launches than that are a loop without end.
constexpr size_t MOST_LAUNCHES = 10000, MOST_LAUNCHES_OF_PROGRAM = 1000000;

// A launch by a kernel: its grid may begin at once, or once the asking grid has ended. Here it is
// always the latter. By then the arguments on the asking thread's stack are gone.
struct KeptLaunch {
  SimLaunch launch;
  void (*body)(void*);
  void* arguments;
  u32 block;  // that asked
};
std::vector<KeptLaunch> kept_launches;  // by the grid that runs
std::mutex kept_mutex;

// The arguments are copied on the scheduler's stack: on the thread's own it would be an access of
// the kernel's.
bool is_kept(Fiber& fiber) {
  if (running_fiber()) return false;
  auto* const asked = static_cast<KeptLaunch*>(fiber.wait.operands);
  asked->arguments = asked->launch.keep(asked->arguments);
  const std::lock_guard lock(kept_mutex);
  kept_launches.push_back(*asked);
  return true;
}

const Condition KEEPING = {"a launch by a kernel", is_kept, [](const Fiber&, Finding&) {}};

int keep_launch(Fiber& fiber, const SimLaunch& launch, void (*body)(void*), void* arguments,
                const void* return_address) {
  if (!launch.keep)
    stop_incomplete(
        "a launch by a kernel (dynamic parallelism) | launch it from the host, or run the "
        "whole program with `gemmlab sim`",
        return_address);
  KeptLaunch asked = {launch, body, arguments, fiber.worker->block()};
  Wait wait = {fiber.pc_of(return_address)};
  wait.operands = &asked;
  wait.condition = &KEEPING;
  fiber.worker->wait_until(fiber, wait);
  return cudaSuccess;
}

void stop_endless_launches(const void* return_address) {
  const size_t most = session.is_program ? MOST_LAUNCHES_OF_PROGRAM : MOST_LAUNCHES;
  if (session.launches.size() < most) return;
  Finding finding = {Kind::MANY_LAUNCHES};
  finding.number[0] = i64(most);
  stop_caller(finding, return_address);
}

int launch_now(const SimLaunch& asked, void (*body)(void*), void* arguments,
               const void* return_address) {
  SimLaunch launch = asked;
  const KernelFacts* facts = session.module->facts(launch.kernel);
  if (facts && facts->cluster.x && volume(launch.cluster) == 1) launch.cluster = facts->cluster;
  stop_endless_launches(return_address);
  const Uninterrupted here;
  if (session.is_program) stop_cancelled_program();
  Results& results = results_of(launch);
  if (const int error = check_launch(launch, *session.module)) {
    note_refusal(launch, error);
    return error;
  }
  if (!heap.begin_launch())
    return refuse(cudaErrorMemoryAllocation, "there is no room for the heap of kernels");
  ++progress.headway;
  output.begin_launch();
  const Launch all = {launch.grid,
                      launch.block,
                      launch.cluster,
                      launch.dynamic_bytes,
                      body,
                      arguments,
                      session.module,
                      session.traced,
                      session.journal,
                      session.values,
                      session.order,
                      launch.dependent != 0,
                      launch.cooperative != 0,
                      session.most_clusters};
  const u64 kernel = reinterpret_cast<uintptr_t>(launch.kernel) - session.module->code;
  session.launches.push_back({all.blocks(),
                              launch.dynamic_bytes + (facts ? facts->static_bytes : 0),
                              all.threads(), launch.kernel ? kernel : 0, all.run() * all.ranks()});
  if (session.traced) grid_writes.begin_launch(all.dependent);
  arena.open(true);
  const bool ran = run_grid(all, session.workers, results);
  arena.open(false);
  keep_host_waits(results);
  heap.end_launch();
  if (session.is_program) {
    end_launch();
    if (results.findings.holds(Kind::ASSERTION)) device_error = cudaErrorAssert;
  }
  if (!ran) return refuse(cudaErrorMemoryAllocation, "the threads' stacks could not be allocated");
  return cudaSuccess;
}

// Adds what the last grid has asked for, in the order of its blocks, whichever ran first.
void hand_over_kept_launches(std::deque<KeptLaunch>& next) {
  std::stable_sort(kept_launches.begin(), kept_launches.end(),
                   [](const KeptLaunch& a, const KeptLaunch& b) { return a.block < b.block; });
  next.insert(next.end(), kept_launches.begin(), kept_launches.end());
  kept_launches.clear();
}

}  // namespace

void forget_kept_launches() {
  for (const KeptLaunch& one : kept_launches) one.launch.drop(one.arguments);
  kept_launches.clear();
}

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" int sim_launch(const SimLaunch* asked, void (*body)(void*), void* arguments) {
  using namespace sim;
  const void* const from = __builtin_return_address(0);
  if (Fiber* fiber = running_fiber()) return keep_launch(*fiber, *asked, body, arguments, from);
  const DeviceTurn turn;
  const int error = launch_now(*asked, body, arguments, from);
  std::deque<KeptLaunch> next;
  for (hand_over_kept_launches(next); !next.empty(); hand_over_kept_launches(next)) {
    const KeptLaunch one = next.front();
    next.pop_front();
    launch_now(one.launch, one.body, one.arguments, from);
    one.launch.drop(one.arguments);
  }
  return error;
}
#pragma GCC visibility pop
