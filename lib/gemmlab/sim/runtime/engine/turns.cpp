#include "turns.h"

#include <algorithm>

#include "random.h"

namespace sim {

void Turns::begin(bool taken, u32 groups, u32 order, const std::atomic<u64>& next, u64 clusters) {
  taken_ = taken;
  groups_ = groups;
  order_ = order;
  next_ = &next;
  clusters_ = clusters;
  stuck_ = over_ = false;
  resident_ = idle_ = fruitless_ = looks_ = polling = going_round = 0;
  random_ = order;
  seats_.clear();
  seats_.resize(groups);
  for (u32 group = 0; group < (order ? std::min(FIRST, groups) : 1); ++group) sit(group);
  turn_ = order ? any() : 0;
}

u64 Turns::random() { return next_random(random_); }

void Turns::sit(u32 group) {
  seats_[group].started = true;
  ++resident_;
}

// The next group that is resident.
u32 Turns::after(u32 group) const {
  do group = (group + 1) % groups_;
  while (!seats_[group].started || seats_[group].left);
  return group;
}

u32 Turns::any() {
  u32 group = groups_ - 1;
  for (u64 steps = random() % resident_ + 1; steps; --steps) group = after(group);
  return group;
}

void Turns::give(u32 group) {
  turn_ = group;
  seats_[group].changed.notify_all();
}

void Turns::give_and_wait(std::unique_lock<std::mutex>& lock, u32 from, u32 to) {
  if (to == from) return;
  give(to);
  seats_[from].changed.wait(lock, [&] { return turn_ == from; });
}

bool Turns::start(u32 group) {
  std::unique_lock lock(mutex_);
  seats_[group].changed.wait(lock, [&] { return turn_ == group || over_; });
  return !over_;
}

void Turns::offer(u32 group) {
  if (random() % CHANCES) return;
  std::unique_lock lock(mutex_);
  give_and_wait(lock, group, any());
}

void Turns::end_cluster(u32 group) {
  std::unique_lock lock(mutex_);
  give_and_wait(lock, group, order_ ? any() : after(group));
}

bool Turns::pass(u32 group) {
  std::unique_lock lock(mutex_);
  if (stuck_) return false;
  u32 to = after(group);
  const auto is_free = [](const Seat& seat) { return !seat.started; };
  const auto seat = std::find_if(seats_.begin(), seats_.end(), is_free);
  if (seat != seats_.end() && waiting()) {
    to = u32(seat - seats_.begin());
    sit(to);
  } else if (++idle_ >= resident_) {
    idle_ = 0;
    stuck_ = going_round == polling || ++fruitless_ == MOST_FRUITLESS;
    if (stuck_) return false;
    ++looks_;
  }
  give_and_wait(lock, group, to);
  return !stuck_;
}

void Turns::leave(u32 group) {
  const std::lock_guard lock(mutex_);
  seats_[group].left = true;
  idle_ = 0;
  if (--resident_) return give(after(group));
  over_ = true;
  turn_ = groups_;  // nobody's
  for (Seat& seat : seats_) seat.changed.notify_all();
}

}  // namespace sim
