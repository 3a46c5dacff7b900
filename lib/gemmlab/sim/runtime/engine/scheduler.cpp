// Which fiber runs next. Lanes run in order, each until it has to wait; a warp runs until none of
// its lanes can go on; then the next warp.
#include "worker.h"

namespace sim {

void Worker::schedule() {
  while (live_ && !abandoned_) {
    bool moved = false;
    for (Warp& warp : warps_) {
      moved |= run_warp(warp);
      if (abandoned_) return;
      if (live_ && at_barrier_ == live_) release_barrier();
    }
    if (moved)
      cluster_->note_progress();
    else
      abandoned_ = !may_try_again();
  }
}

// Lanes whose condition has come true can run again.
bool Worker::wake(Warp& warp) {
  bool woken = false;
  for (u32 n = 0; n < warp.size; ++n) {
    Fiber& fiber = warp.fibers[n];
    if (fiber.state != State::AT_CONDITION || !fiber.wait.condition->holds(fiber)) continue;
    fiber.state = State::READY;
    woken = true;
  }
  if (woken) cluster_->note_headway();
  return woken;
}

// Nobody here can go on: lets the other blocks of the cluster and the copy engine do something.
bool Worker::may_try_again() {
  const Cluster::Turn turn = cluster_->pass(rank_);
  if (turn == Cluster::Turn::STUCK) report_stuck();
  if (const u32 looks = cluster_->grid().turns.looks(); looks != looks_) {
    looks_ = looks;
    look_again();
  }
  return turn == Cluster::Turn::AGAIN;
}

// Nobody can go on: those who poll may end their loops by themselves.
void Worker::look_again() {
  for (u32 t = 0; t < launch_->threads(); ++t) {
    Fiber& fiber = fibers_[t];
    if (fiber.state == State::AT_CONDITION && fiber.wait.condition->polls)
      fiber.state = State::READY;
  }
}

bool Worker::run_warp(Warp& warp) {
  if (!wake(warp) && !warp.can_run()) return false;
  if (launch_->traced && !warp.log) open_log(warp);
  do {
    if (!run_lanes(warp)) return true;
  } while (carry_out_collective(warp) || make_room(warp));
  if (warp.is_together()) close_log(warp);
  return true;
}

// Returns false if the block was given up.
bool Worker::run_lanes(Warp& warp) {
  for (u32 n = 0; n < warp.size; ++n) {
    if (warp.fibers[n].state != State::READY) continue;
    if (hooks & HOOKS_CANCEL) {
      findings_.add(reason_to_stop(warp.fibers[n], warp.fibers[n].wait.pc));
      abandoned_ = true;
    }
    // Stacks are far apart in memory: let the next one come while this one runs.
    if (n + 1 < warp.size) warp.fibers[n + 1].context.prefetch();
    if (!abandoned_) resume(warp.fibers[n]);
    if (abandoned_) return false;
  }
  return true;
}

void Worker::resume(Fiber& fiber) {
  running_ = &fiber;
  switch_context(scheduler_, fiber.context);
  running_ = nullptr;
}

bool Worker::carry_out_collective(Warp& warp) {
  const u32 lanes = warp.complete();
  if (!lanes) return false;
  const Fiber& first = warp.fibers[__builtin_ctz(lanes)];
  if (first.wait.what->aligned && lanes != ~0u) {
    report_partial_warp(first, lanes);
    return false;
  }
  first.wait.what->execute(*this, warp.fibers, lanes);
  if (launch_->traced && lanes == warp.live) {
    // Nobody of the warp is elsewhere: what came before belongs together.
    count(warp.events());
    requests_.separate(warp.events().warp);
    rewind_log(warp);
  }
  warp.waiting &= ~lanes;
  for (u32 n = 0; n < warp.size; ++n)
    if (lanes >> n & 1) warp.fibers[n].state = State::READY;
  return true;
}

bool Worker::make_room(Warp& warp) {
  if (!warp.any(State::LOG_FULL)) return false;
  const WarpEvents events = warp.events();
  // A lane that goes on and on alone must not fill the memory: its accesses are counted as they
  // are.
  const bool drop = events.uniform() || warp.log->is_large();
  if (drop) {
    count(events);
    rewind_log(warp);
  }
  for (u32 n = 0; n < warp.size; ++n) {
    Fiber& fiber = warp.fibers[n];
    if (fiber.state != State::LOG_FULL) continue;
    fiber.state = State::READY;
    if (drop) continue;
    const size_t used = size_t(fiber.log_at - warp.log->lane(n).begin());
    warp.log->lane(n).grow();
    fiber.log_at = warp.log->lane(n).begin() + used;
    fiber.log_end = warp.log->lane(n).end();
  }
  return true;
}

void Worker::release_barrier() {
  cluster_->offer_turn();
  cluster_->note_headway();
  report_barrier();
  if (launch_->traced) clocks().barrier(fibers_[0].rank, fibers_.data());
  at_barrier_ = 0;
  for (u32 t = 0; t < launch_->threads(); ++t)
    if (fibers_[t].state == State::AT_BARRIER) fibers_[t].state = State::READY;
}

void Worker::report_barrier() {
  const Fiber* first = nullptr;
  for (u32 t = 0; t < launch_->threads(); ++t) {
    const Fiber& fiber = fibers_[t];
    if (fiber.state != State::AT_BARRIER) continue;
    if (!first) first = &fiber;
    if (fiber.wait.line == first->wait.line) continue;
    findings_.add({Kind::DIVERGENT_BARRIER, first->wait.pc, fiber.wait.pc, block_, fiber.index});
    return;
  }
  if (live_ == launch_->threads()) return;
  Finding finding = {Kind::DIVERGENT_BARRIER, first->wait.pc, 0, block_, first->index};
  finding.number[0] = launch_->threads() - live_;
  findings_.add(finding);
}

// Nobody can run, and the barrier is not complete: so someone waits for a lane of its warp, or for
// what will not happen.
void Worker::report_stuck() {
  for (u32 t = 0; t < launch_->threads(); ++t) {
    const Fiber& fiber = fibers_[t];
    if (fiber.state != State::AT_CONDITION) continue;
    Finding finding = {Kind::STUCK, fiber.wait.pc, 0, block_, t};
    finding.name = fiber.wait.condition->name;
    fiber.wait.condition->describe(fiber, finding);
    findings_.add(finding);
  }
  for (const Warp& warp : warps_) {
    if (!warp.waiting) continue;
    const Fiber& waiting = warp.fibers[__builtin_ctz(warp.waiting)];
    const u32 awaited = warp.awaited_by(waiting);
    const Fiber& other = warp.fibers[__builtin_ctz(awaited)];
    const bool meet = other.state == State::AT_COLLECTIVE;
    Finding finding = {meet ? Kind::DIVERGENT_COLLECTIVE : Kind::DEADLOCK, waiting.wait.pc,
                       other.wait.pc, block_, waiting.index};
    finding.number[0] = __builtin_popcount(waiting.wait.mask & warp.live & ~awaited);
    finding.number[1] = __builtin_popcount(awaited);
    finding.name = waiting.wait.what->name;
    finding.other_name = meet                                 ? other.wait.what->name
                         : other.state == State::AT_CONDITION ? other.wait.condition->name
                                                              : "__syncthreads";
    findings_.add(finding);
    return;
  }
}

void Worker::report_partial_warp(const Fiber& fiber, u32 lanes) {
  Finding finding = {Kind::PARTIAL_WARP, fiber.wait.pc, 0, block_, fiber.index};
  finding.number[0] = __builtin_popcount(lanes);
  finding.name = fiber.wait.what->name;
  findings_.add(finding);
  abandoned_ = true;
}

void Worker::report_inactive_lane(const Fiber& fiber, u32 lane) {
  Finding finding = {Kind::INACTIVE_SOURCE, fiber.wait.pc, 0, block_, fiber.index};
  finding.number[0] = lane;
  finding.name = fiber.wait.what->name;
  findings_.add(finding);
}

}  // namespace sim
