#include "worker.h"

#include <algorithm>

#include "memory/access.h"
#include "watchdog.h"

namespace sim {

std::atomic<u32> hooks{0};

namespace {

// Where every fiber starts: the kernel, then out.
void fiber_main() {
  Fiber& fiber = *running_fiber();
  const Launch& launch = fiber.worker->launch();
  launch.body(launch.arguments);
  fiber.worker->finish(fiber);
}

SimIndex unravel(u64 index, SimIndex size) {
  return {u32(index % size.x), u32(index / size.x % size.y), u32(index / size.x / size.y)};
}

}  // namespace

u32 Launch::block_of(u64 cluster_number, u32 rank) const {
  const SimIndex clusters = {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  const SimIndex c = unravel(cluster_number, clusters), r = unravel(rank, cluster);
  return c.x * cluster.x + r.x +
         grid.x * (c.y * cluster.y + r.y + grid.y * (c.z * cluster.z + r.z));
}

bool Worker::begin_launch(const Launch& launch, Cluster& cluster, u32 rank) {
  launch_ = &launch;
  dependent_ = launch.dependent;
  cluster_ = &cluster;
  rank_ = rank;
  cluster.set_worker(rank, *this);
  findings_.clear();
  requests_.begin(*launch.module);
  journal_.clear();
  shared_.attach(*launch.module, launch.dynamic_bytes);
  if (launch.traced && rank == 0) {
    const bool plain = launch.module->has_plain_order;
    races().begin_launch(shared_.bytes(), launch.ranks(), launch.threads(), plain, findings_);
    Grid& grid = cluster.grid();
    globals().begin_launch(launch.ranks() * launch.threads(), plain,
                           takes_turns() ? nullptr : &grid.use,
                           takes_turns() ? &grid.order : nullptr, findings_);
  }
  looks_ = 0;
  return open_fibers();
}

bool Worker::open_fibers() {
  const u32 threads = launch_->threads();
  // Only ever longer: the stacks remember where their fibers are.
  if (fibers_.empty()) fibers_ = std::vector<Fiber>(MAX_THREADS);
  for (u32 t = 0; t < threads; ++t) {
    Fiber& fiber = fibers_[t];
    fiber.worker = this;
    fiber.code = launch_->module->code;
    fiber.index = t;
    fiber.lane = t % WARP;
    fiber.rank = rank_;
    fiber.thread = unravel(t, launch_->block);
    if (!stacks.open(number_ * launch_->stacks() + t, &fiber)) return false;
  }
  warps_.clear();
  warps_.resize((threads + WARP - 1) / WARP);
  for (u32 w = 0; w < warps_.size(); ++w) {
    warps_[w].fibers = &fibers_[w * WARP];
    warps_[w].size = std::min(WARP, threads - w * WARP);
  }
  return true;
}

void Worker::run_block(u32 block) {
  cluster_->wait_for_turn(rank_);
  cluster_->start_block();
  begin_block(block);
  if (sigsetjmp(after_fault_, 1) == 0) {
    schedule();
  } else {
    running_ = nullptr;
    findings_.add(fault_);
    abandoned_ = true;
  }
  end_block();
}

void Worker::begin_block(u32 block) {
  const u32 threads = launch_->threads();
  block_ = block;
  requests_.begin_block(block);
  journal_.begin_block(block, launch_->journal && block == 0, launch_->values);
  block_index_ = unravel(block, launch_->grid);
  live_ = threads;
  at_barrier_ = 0;
  abandoned_ = cluster_->is_abandoned();
  shared_.poison();
  for (u32 t = 0; t < threads; ++t) {
    const u32 slot = number_ * launch_->stacks() + t;
    fibers_[t].state = State::READY;
    fibers_[t].polling.forget();
    fibers_[t].stored = nullptr;
    fibers_[t].clock_reads = 0;
    prepare(fibers_[t].context, stacks.low(slot), stacks.top(slot), fiber_main);
  }
  for (Warp& warp : warps_) {
    warp.live = warp.size == WARP ? ~0u : (1u << warp.size) - 1;
    warp.waiting = 0;
  }
  if (!launch_->traced) return;
  clocks().begin_block(rank_, fibers_.data());
  for (u32 t = 0; t < threads; ++t) fibers_[t].global_calm = globals().calm();
}

void Worker::end_block() {
  for (Warp& warp : warps_) close_log(warp);
  // What an abandoned block left undone says nothing.
  if (!abandoned_) {
    mechanisms_.end_block(*this);
    if (launch_->traced) races().end_block(fibers_.data(), launch_->threads());
  }
  mechanisms_.explain(*this);
  cluster_->leave(rank_, abandoned_);
}

void Worker::open_log(Warp& warp) {
  if (free_logs_.empty()) free_logs_.push_back(std::make_unique<WarpLog>());
  warp.log = std::move(free_logs_.back());
  free_logs_.pop_back();
  rewind_log(warp);
}

void Worker::rewind_log(Warp& warp) {
  for (u32 n = 0; n < warp.size; ++n) {
    warp.fibers[n].log_at = warp.log->lane(n).begin();
    warp.fibers[n].log_end = warp.log->lane(n).end();
  }
}

void Worker::close_log(Warp& warp) {
  if (!warp.log) return;
  count(warp.events());
  requests_.separate(warp.events().warp);
  warp.log->reset();
  free_logs_.push_back(std::move(warp.log));
}

void Worker::count(const WarpEvents& events) {
  if (launch_->journal) journal_.add(events);
  requests_.count(events);
}

// ---- on a fiber's stack ----

void Worker::stop(Fiber& fiber, State state) {
  fiber.state = state;
  switch_context(fiber.context, scheduler_);
}

void Worker::synchronize_block(Fiber& fiber, u32 pc, int line) {
  mark(fiber, pc, Mark::BARRIER);
  fiber.wait = {pc, line};
  ++at_barrier_;
  stop(fiber, State::AT_BARRIER);
}

void Worker::meet(Fiber& fiber, const Wait& wait) {
  keep_stored(fiber);
  fiber.wait = wait;
  if (!(wait.mask >> fiber.lane & 1)) {
    Finding finding = {Kind::NOT_IN_MASK, wait.pc};
    finding.number[0] = fiber.lane;
    finding.name = wait.what->name;
    abandon(fiber, finding);
  }
  warps_[fiber.index / WARP].waiting |= 1u << fiber.lane;
  stop(fiber, State::AT_COLLECTIVE);
}

void Worker::wait_until(Fiber& fiber, const Wait& wait) {
  keep_stored(fiber);
  fiber.wait = wait;
  if (!wait.condition->holds(fiber)) stop(fiber, State::AT_CONDITION);
}

void Worker::wait_for_room(Fiber& fiber, u32 pc) {
  fiber.wait.pc = pc;
  stop(fiber, State::LOG_FULL);
}

void Worker::finish(Fiber& fiber) {
  keep_stored(fiber);
  --live_;
  cluster_->thread_ended(fiber);
  cluster_->note_headway();
  warps_[fiber.index / WARP].live &= ~(1u << fiber.lane);
  stop(fiber, State::DONE);
  __builtin_unreachable();
}

void Worker::abandon(Fiber& fiber, Finding finding) {
  finding.block = block_;
  finding.thread = fiber.index;
  findings_.add(finding);
  abandoned_ = true;
  stop(fiber, State::DONE);
  __builtin_unreachable();
}

void Worker::stop_early(Fiber& fiber, u32 pc) { abandon(fiber, reason_to_stop(fiber, pc)); }

Finding Worker::reason_to_stop(const Fiber& fiber, u32 pc) const {
  Finding finding = {Kind::CANCELLED, 0, 0, block_, fiber.index};
  if (!cluster_->is_given_up()) return finding;
  finding.kind = cluster_->was_changing() ? Kind::LONG_LOOP : Kind::ENDLESS_LOOP;
  finding.pc = pc;
  finding.number[0] = i64(1000 * budget_seconds);
  return finding;
}

bool Worker::is_in_kernel(uintptr_t pc) const {
  return running_ && pc - launch_->module->code < launch_->module->code_bytes;
}

void Worker::fault(Finding finding, uintptr_t pc) {
  fault_ = finding;
  // One past the instruction, as a return address would be.
  fault_.pc = is_in_kernel(pc) ? u32(pc - launch_->module->code) + 1 : 0;
  fault_.block = block_;
  fault_.thread = running_ ? running_->index : 0;
  siglongjmp(after_fault_, 1);
}

void Worker::interrupt(uintptr_t pc) { fault(reason_to_stop(*running_, 0), pc); }

}  // namespace sim
