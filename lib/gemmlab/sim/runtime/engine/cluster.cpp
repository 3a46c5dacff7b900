#include "cluster.h"

#include "worker.h"

namespace sim {

void PutOff::push_back(std::function<void()> work) {
  if (work_.size() == MOST) do_oldest();
  work_.push_back(std::move(work));
}

bool PutOff::do_oldest() {
  if (work_.empty()) return false;
  const std::function<void()> oldest = std::move(work_.front());
  work_.pop_front();
  oldest();
  return true;
}

u64 Grid::take() {
  const u64 number = next++;
  if (number >= clusters) return NONE;
  return dispatch.empty() ? number : dispatch[number];
}

void Cluster::begin_launch(u32 group, u32 ranks, u32 threads, bool traced, Grid& grid) {
  grid_ = &grid;
  group_ = group;
  ranks_ = ranks;
  threads_ = threads;
  traced_ = traced;
  here_ = 0;
  go_on_ = true;
  given_up_ = false;
  number_ = Grid::NONE;
}

u64 Cluster::next(bool can_go_on) {
  std::unique_lock lock(mutex_);
  go_on_ &= can_go_on;
  const u64 round = round_;
  if (++here_ == ranks_) {
    here_ = 0;
    number_ = take();
    if (number_ != Grid::NONE) begin();
    ++round_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return round_ != round; });
  }
  return number_;
}

u64 Cluster::take() {
  Turns& turns = grid_->turns;
  if (!turns.taken()) return go_on_ ? grid_->take() : Grid::NONE;
  if (number_ != Grid::NONE) park([&] { turns.end_cluster(group_); });
  const u64 number = go_on_ && !turns.is_stuck() ? grid_->take() : Grid::NONE;
  if (number == Grid::NONE) turns.leave(group_);
  return number;
}

void Cluster::begin() {
  copies.clear();
  turn_ = idle_ = 0;
  running_ = (1u << ranks_) - 1;
  stuck_ = abandoned_ = false;
  arrivals_ = 0;
  live_threads_ = ranks_ * threads_;
  phase_ = 0;
  for (u32 rank = 0; rank < ranks_; ++rank) workers_[rank]->forget_block();
  if (!traced_) return;
  races.begin();
  globals.begin(number_);
  arriving_ = completed_ = races.clocks().new_clock();
}

void Cluster::wait_for_turn(u32 rank) {
  if (ranks_ == 1) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == rank; });
}

void Cluster::hand_on(u32 rank) {
  const std::lock_guard lock(mutex_);
  do turn_ = (turn_ + 1) % ranks_;
  while (running_ && !is_running(turn_));
  if (turn_ != rank) changed_.notify_all();
}

Cluster::Turn Cluster::pass(u32 rank) {
  if (abandoned_) return Turn::ABANDONED;
  if (stuck_) return Turn::STUCK;
  if (++idle_ >= u32(__builtin_popcount(running_))) {
    idle_ = 0;
    if (copies.do_oldest()) return Turn::AGAIN;
    bool may_go_on = false;
    if (grid_->turns.taken()) park([&] { may_go_on = grid_->turns.pass(group_); });
    if (may_go_on) return hooks & HOOKS_CANCEL ? Turn::ABANDONED : Turn::AGAIN;
    stuck_ = true;
    return Turn::STUCK;
  }
  hand_on(rank);
  wait_for_turn(rank);
  return abandoned_ ? Turn::ABANDONED : stuck_ ? Turn::STUCK : Turn::AGAIN;
}

void Cluster::leave(u32 rank, bool abandoned) {
  running_ &= ~(1u << rank);
  busy_ = running_ != 0;
  idle_ = 0;
  // A deadlock is reported by all that take part in it.
  abandoned_ |= abandoned && !stuck_;
  if (!running_ && traced_ && !abandoned_ && !stuck_) {
    races.end(workers_[rank]->block());
    globals.end();
  }
  if (ranks_ > 1) hand_on(rank);
}

}  // namespace sim
