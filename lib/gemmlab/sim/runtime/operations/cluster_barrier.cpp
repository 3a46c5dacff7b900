// barrier.cluster: arrive and wait, by all threads of all blocks of the cluster that have not
// ended (PTX ISA, barrier.cluster).
#include "../../include/gemmlab_sim/abi_cluster.h"
#include "engine/worker.h"
#include "memory/access.h"

namespace sim {

void Cluster::arrive(Fiber& fiber) {
  if (traced_) races.clocks().publish(fiber), races.clocks().release(fiber, arriving_);
  ++arrivals_;
  complete_barrier();
}

void Cluster::complete_barrier() {
  if (arrivals_ < live_threads_) return;
  arrivals_ = 0;
  ++phase_;
  if (!traced_) return;
  completed_ = arriving_;
}

namespace {

// The phase that a thread has arrived in; it waits for that phase's end.
struct Arrivals : Mechanism {
  std::vector<u64> phase;  // by thread, plus one; 0: it has not arrived
  void begin_block(Worker& worker) override { phase.assign(worker.launch().threads(), 0); }
};

u64& phase_of(const Fiber& fiber) { return fiber.worker->state<Arrivals>().phase[fiber.index]; }

}  // namespace

// The others go on without it, whether it has arrived or not.
void Cluster::thread_ended(const Fiber& fiber) {
  --live_threads_;
  if (!arrivals_) return;
  if (phase_of(fiber) > phase_) --arrivals_;
  if (arrivals_) complete_barrier();
}

namespace {

bool all_arrived(Fiber& fiber) {
  const u64 arrived = phase_of(fiber);
  return !arrived || fiber.worker->cluster().barrier_phase() >= arrived;
}

void describe(const Fiber& fiber, Finding& finding) {
  Cluster& cluster = fiber.worker->cluster();
  finding.number[0] = cluster.live_threads() - cluster.arrivals();
  finding.other_name = "threads of its cluster that do not arrive";
}

const Condition CLUSTER_BARRIER = {"cluster_wait", all_arrived, describe};

}  // namespace

}  // namespace sim

extern "C" void sim_cluster_arrive() {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Cluster& cluster = fiber.worker->cluster();
  sim::phase_of(fiber) = cluster.barrier_phase() + 1;
  cluster.arrive(fiber);
}

extern "C" void sim_cluster_wait(int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Wait wait = {fiber.pc_of(__builtin_return_address(0)), line};
  sim::mark(fiber, wait.pc, sim::Mark::OTHER_BARRIER);
  wait.condition = &sim::CLUSTER_BARRIER;
  fiber.worker->wait_until(fiber, wait);
  if (fiber.worker->launch().traced) fiber.worker->cluster().learn_arrivals(fiber);
  sim::phase_of(fiber) = 0;
}
