#include "clocks.h"

#include <algorithm>

namespace sim {

namespace {

void raise(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  if (!other.beyond || clock.beyond == other.beyond) return;
  if (!clock.beyond) {
    clock.beyond = other.beyond;
    return;
  }
  auto both = std::make_shared<Beyond>(*clock.beyond);
  both->join(*other.beyond);
  clock.beyond = std::move(both);
}

void lower(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::min(clock[i], other[i]);
}

}  // namespace

void Clocks::begin_launch(u32 ranks, u32 threads) {
  threads_ = threads;
  all_threads_ = ranks * threads;
  now_ = 1;
  base_.assign(ranks, Clock());
  clocks_.clear();
}

void Clocks::begin() {
  // No stamp of the last block's: what it has accessed behind its last barrier bears `now_`.
  start_ = ++now_;
  ++now_;
  ++changes_;
  agents_ = 0;
  for (Clock& base : base_) base = Clock(slots(), start_);
  fences_.clear();
  published_.assign(all_threads_, start_);
}

void Clocks::begin_block(u32 rank, Fiber* fibers) {
  for (u32 t = 0; t < threads_; ++t) {
    fibers[t].rank = rank;
    fibers[t].first_slot = rank * threads_;
    fibers[t].slot = fibers[t].first_slot + t;
    fibers[t].synced = start_;
    fibers[t].stamp = now_;
    fibers[t].clock = nullptr;
  }
}

void Clocks::barrier(u32 rank, Fiber* fibers) {
  Clock& base = base_[rank];
  for (u32 t = 0; t < threads_; ++t)
    if (fibers[t].clock) raise(base, clocks_[fibers[t].slot]);
  const u32 synced = now_++;
  ++changes_;
  for (u32 t = 0; t < threads_; ++t) {
    fibers[t].synced = synced;
    fibers[t].stamp = now_;
    fibers[t].clock = nullptr;
  }
}

Clock& Clocks::clock_of(Fiber& fiber) {
  if (clocks_.empty()) clocks_.resize(all_threads_);
  Clock& clock = clocks_[fiber.slot];
  if (!fiber.clock) {
    clock = base_[fiber.rank];
    std::fill_n(clock.begin() + fiber.first_slot, threads_, fiber.synced);
    fiber.clock = clock.data();
  }
  return clock;
}

void Clocks::release(Fiber& fiber, Clock& into) {
  ++changes_;
  raise(into, clock_of(fiber));
  into[fiber.slot] = fiber.stamp;
  fiber.stamp = ++now_;
}

void Clocks::publish(Fiber& fiber) {
  const Clock& clock = clock_of(fiber);
  for (u32 slot = 0; slot < all_threads_; ++slot)
    published_[slot] = std::max(published_[slot], slot == fiber.slot ? fiber.stamp : clock[slot]);
}

void Clocks::acquire(Fiber& fiber, const Clock& from) {
  ++changes_;
  raise(clock_of(fiber), from);
}

void Clocks::learn(Fiber& fiber, u32 slot, u32 stamp) {
  ++changes_;
  u32& known = clock_of(fiber)[slot];
  known = std::max(known, stamp);
}

void Clocks::join(Fiber* const* fibers, u32 count) {
  joined_.assign(slots(), 0);
  joined_.beyond = nullptr;
  for (u32 i = 0; i < count; ++i) {
    raise(joined_, clock_of(*fibers[i]));
    joined_[fibers[i]->slot] = fibers[i]->stamp;
  }
  ++now_;
  for (u32 i = 0; i < count; ++i) {
    acquire(*fibers[i], joined_);
    fibers[i]->stamp = now_;
  }
}

bool Clocks::knows_all(const Fiber& fiber, const Clock& clock) const {
  for (u32 slot = 0; slot < clock.size(); ++slot)
    if (!knows(fiber, slot, clock[slot])) return false;
  return true;
}

bool Clocks::fence_grid(Fiber& fiber, u32 cluster) {
  ++changes_;
  Clock& clock = clock_of(fiber);
  auto next = clock.beyond ? std::make_shared<Beyond>(*clock.beyond) : std::make_shared<Beyond>();
  next->known.join(next->seen);
  bool is_behind = false;
  for (u32 slot = 0; slot < all_threads_; ++slot) {
    const u32 known = slot == fiber.slot ? 0 : next->known.known(cluster, slot);
    if (known <= clock[slot]) continue;
    clock[slot] = known;
    is_behind = true;
  }
  publish(fiber);
  auto own = std::make_shared<Stamps>(clock.begin(), clock.begin() + all_threads_);
  (*own)[fiber.slot] = fiber.stamp;
  next->published.join(next->known);
  next->published.join(cluster, std::move(own));
  clock.beyond = std::move(next);
  fiber.stamp = ++now_;
  return is_behind;
}

void Clocks::see(Fiber& fiber, const View& passed_on) {
  Clock& clock = clock_of(fiber);
  auto next = clock.beyond ? std::make_shared<Beyond>(*clock.beyond) : std::make_shared<Beyond>();
  next->seen.join(passed_on);
  clock.beyond = std::move(next);
}

bool Clocks::knows_start(const Fiber& fiber, u32 rank) const {
  const u32* known = fiber.clock ? fiber.clock : base_[fiber.rank].data();
  const u32* first = known + rank * threads_;
  return std::any_of(first, first + threads_, [&](u32 stamp) { return stamp > start_; });
}

Fiber Clocks::common(Fiber* fibers, u32 count, u32 slot) {
  Fiber all = *fibers;
  all.slot = slot;
  const auto has_clock = [](const Fiber& fiber) { return fiber.clock; };
  if (fences_.empty() && !std::any_of(fibers, fibers + count, has_clock)) return all;
  if (slot != common_slot_ || changes_ != common_changes_) {
    lower_to_all(fibers, count, slot);
    common_slot_ = slot;
    common_changes_ = changes_;
  }
  all.clock = common_.data();
  return all;
}

void Clocks::lower_to_all(Fiber* fibers, u32 count, u32 slot) {
  common_.assign(slots(), ~0u);
  Clock fenced = fences_.empty() ? Clock() : common_;
  for (Fiber* fiber = fibers; fiber != fibers + count; ++fiber) {
    const u32 own = std::min(common_[fiber->slot], fiber->stamp);
    lower(common_, clock_of(*fiber));
    common_[fiber->slot] = own;
    if (fenced.empty()) continue;
    if (fences_[fiber->slot].empty())
      fenced.clear();
    else
      lower(fenced, fences_[fiber->slot]);
  }
  if (!fences_.empty()) fences_[slot] = fenced;
}

u32 Clocks::new_agent() { return all_threads_ + agents_++ % AGENTS; }

void Clocks::fence(Fiber& fiber) {
  if (fences_.empty()) fences_.resize(slots());
  Clock& fence = fences_[fiber.slot];
  fence = clock_of(fiber);
  ++changes_;
  fence[fiber.slot] = fiber.stamp;
  fiber.stamp = ++now_;
}

}  // namespace sim
