// Named barriers: bar.sync and bar.arrive with a number of threads (PTX ISA, "bar, barrier"). A
// warp arrives as a whole.
#include "../../include/gemmlab_sim/abi_async.h"
#include "engine/worker.h"
#include "memory/access.h"

namespace sim {

namespace {

constexpr u32 BARRIERS = 16;

struct NamedBarrier {
  u32 wanted = 0;  // threads; 0: nobody is here
  u32 come = 0;
  u32 first_pc = 0;
  u64 round = 0;
  std::vector<Fiber*> waiting;
  Clock arriving;
};

struct NamedBarriers : Mechanism {
  NamedBarrier barrier[BARRIERS];
  void begin_block(Worker&) override {
    for (NamedBarrier& b : barrier) b = NamedBarrier();
  }
};

// What a thread brings along.
struct Arrival {
  const char* name;
  u32 number, threads;
  bool waits;
  u64 round = 0;  // that it waits for the end of
};

Arrival& arrival_of(const Fiber& fiber) { return *static_cast<Arrival*>(fiber.wait.operands); }

NamedBarrier& barrier_of(const Fiber& fiber) {
  return fiber.worker->state<NamedBarriers>().barrier[arrival_of(fiber).number];
}

// Everybody who waits knows what all who have come did before.
void complete_round(Worker& worker, NamedBarrier& barrier) {
  if (worker.launch().traced)
    for (Fiber* fiber : barrier.waiting) worker.clocks().acquire(*fiber, barrier.arriving);
  const u64 next = barrier.round + 1;
  barrier = NamedBarrier();
  barrier.round = next;
}

void report_counts(Worker& worker, const Fiber& fiber, u32 other_pc, u32 other_threads) {
  Finding finding = {Kind::BARRIER_COUNTS, fiber.wait.pc, other_pc, worker.block(), fiber.index};
  finding.name = arrival_of(fiber).name;
  finding.number[0] = arrival_of(fiber).threads;
  finding.number[1] = other_threads;
  worker.mutable_findings().add(finding);
}

// Barrier 0 is that of __syncthreads, which has all threads of the block.
void check_syncthreads(Worker& worker, const Fiber& fiber) {
  const u32 threads = worker.launch().threads();
  for (u32 t = 0; t < threads; ++t)
    if (worker.fibers()[t].state == State::AT_BARRIER)
      return report_counts(worker, fiber, worker.fibers()[t].wait.pc, threads);
}

void come_to(Worker& worker, Fiber& fiber) {
  NamedBarrier& barrier = barrier_of(fiber);
  Arrival& arrival = arrival_of(fiber);
  if (!barrier.wanted) {
    barrier.wanted = arrival.threads;
    barrier.first_pc = fiber.wait.pc;
    if (worker.launch().traced) barrier.arriving = worker.clocks().new_clock();
  }
  if (arrival.number == 0) check_syncthreads(worker, fiber);
  if (barrier.wanted != arrival.threads)
    report_counts(worker, fiber, barrier.first_pc, barrier.wanted);
  if (worker.launch().traced) worker.clocks().release(fiber, barrier.arriving);
  arrival.round = barrier.round;
  if (arrival.waits) barrier.waiting.push_back(&fiber);
  if (++barrier.come == barrier.wanted) complete_round(worker, barrier);
}

void execute_arrival(Worker& worker, Fiber* fibers, u32) {
  for (u32 lane = 0; lane < WARP; ++lane) come_to(worker, fibers[lane]);
}

const Collective SYNC = {"bar_sync", execute_arrival, true};
const Collective ARRIVE = {"bar_arrive", execute_arrival, true};

bool is_round_over(Fiber& fiber) { return barrier_of(fiber).round > arrival_of(fiber).round; }

void describe_round(const Fiber& fiber, Finding& finding) {
  const NamedBarrier& barrier = barrier_of(fiber);
  finding.other_pc = barrier.first_pc;
  finding.number[0] = arrival_of(fiber).number;
  finding.number[1] = barrier.come;
  finding.number[2] = barrier.wanted;
}

const Condition ROUND_END = {"bar_sync", is_round_over, describe_round};

void check_arrival(Fiber& fiber, u32 pc, const Arrival& arrival) {
  Finding finding = {Kind::BAD_ARGUMENT, pc};
  finding.name = arrival.name;
  if (arrival.number >= BARRIERS) {
    finding.number[0] = arrival.number;
    finding.other_name = "as the barrier's number; let it be 0 to 15 (__syncthreads has 0)";
  } else if (!arrival.threads || arrival.threads % WARP || arrival.threads > MAX_THREADS) {
    finding.number[0] = arrival.threads;
    finding.other_name = "as the number of threads; let it be that of whole warps";
  } else {
    return;
  }
  fiber.worker->abandon(fiber, finding);
}

void arrive_at(Fiber& fiber, const Collective& what, Arrival& arrival, u32 pc, int line) {
  check_arrival(fiber, pc, arrival);
  fiber.worker->meet(fiber, {pc, line, &what, ~0u, &arrival});
}

}  // namespace

}  // namespace sim

extern "C" {

void sim_bar_sync(uint32_t number, uint32_t threads, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  if (number == 0 && threads == fiber.worker->launch().threads())
    return fiber.worker->synchronize_block(fiber, pc, line);
  sim::mark(fiber, pc, sim::Mark::OTHER_BARRIER, number);
  sim::Arrival arrival = {"bar_sync", number, threads, true};
  sim::arrive_at(fiber, sim::SYNC, arrival, pc, line);
  sim::Wait wait = {pc, line};
  wait.operands = &arrival;
  wait.condition = &sim::ROUND_END;
  fiber.worker->wait_until(fiber, wait);
}

void sim_bar_arrive(uint32_t number, uint32_t threads, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::Arrival arrival = {"bar_arrive", number, threads, false};
  sim::arrive_at(fiber, sim::ARRIVE, arrival, fiber.pc_of(__builtin_return_address(0)), line);
}

}  // extern "C"
