#include "requests.h"

#include <algorithm>
#include <vector>

#include "copies.h"

namespace sim {

void Counter::add(const Counter& other) {
  requests += other.requests;
  lanes += other.lanes;
  wavefronts += other.wavefronts;
  wavefronts_min += other.wavefronts_min;
  sectors += other.sectors;
  sectors_min += other.sectors_min;
}

void Instruction::add(const Instruction& other) {
  counter.add(other.counter);
  samples.add(other.samples);
}

u32 WarpEvents::active() const {
  u32 mask = 0;
  for (u32 n = 0; n < WARP; ++n) mask |= u32(lane[n].size() > 0) << n;
  return mask;
}

bool WarpEvents::uniform() const {
  const u32 mask = active();
  if (!mask) return true;
  const LaneEvents& first = lane[__builtin_ctz(mask)];
  return std::all_of(lane, lane + WARP, [&](const LaneEvents& l) {
    if (!l.size()) return true;
    if (l.size() != first.size()) return false;
    u32 different = 0;  // mostly 0, so that leaving early would only slow the loop
    for (size_t i = 0; i < l.size(); ++i) different |= what_of(l.begin[i] ^ first.begin[i]);
    return !different;
  });
}

void RequestCounter::begin(const Module& module) {
  module_ = &module;
  merging_.assign(module.widest.empty() ? 0 : MAX_THREADS / WARP, {});
  instructions_.clear();
  start_ = {};
  last_ = &start_;
}

void RequestCounter::count(const WarpEvents& events) {
  const size_t counted = count_in_step(events);
  const auto more = [&](const LaneEvents& l) { return l.size() > counted; };
  if (std::any_of(events.lane, events.lane + WARP, more)) count_diverged(events, counted);
}

// Counts the events that all active lanes have in common from the start on, addresses apart;
// returns how many of each lane those are.
size_t RequestCounter::count_in_step(const WarpEvents& events) {
  const u32 mask = events.active();
  if (!mask) return 0;
  const LaneEvents& first = events.lane[__builtin_ctz(mask)];
  const Event* lane[WARP];  // the first active lane stands in for those that are not
  size_t steps = first.size();
  for (u32 n = 0; n < WARP; ++n) {
    const bool active = mask >> n & 1;
    lane[n] = active ? events.lane[n].begin : first.begin;
    if (active) steps = std::min(steps, events.lane[n].size());
  }
  Request request = {mask, {}};
  for (size_t i = 0; i < steps; ++i) {
    const u32 what = what_of(first.begin[i]);
    u32 different = 0;
    for (u32 n = 0; n < WARP; ++n) {
      const Event event = lane[n][i];
      different |= what_of(event) ^ what;
      request.address[n] = address_of(event);
    }
    if (different) return i;
    count_request(what, request, events.warp);
  }
  return steps;
}

namespace {

// Requests under construction, found by (place in the source, occurrence).
class Occurrences {
 public:
  struct Entry {
    u32 what;
    Request request;
  };

  explicit Occurrences(const Module& module) : module_(module) {}

  void begin_lane() { std::fill(next_.begin(), next_.end(), 0); }

  void add(u32 lane, Event event) {
    const u32 place = place_of(what_of(event));
    const u32 k = next_[place]++;
    if (k == entries_of_[place].size()) {
      entries_of_[place].push_back(u32(entries_.size()));
      entries_.push_back({what_of(event), {}});
      // The first active lane stands in for those that are not.
      std::fill_n(entries_.back().request.address, WARP, address_of(event));
    }
    Request& request = entries_[entries_of_[place][k]].request;
    request.mask |= 1u << lane;
    request.address[lane] = address_of(event);
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  // A small number for each place in the source, operation and width.
  u32 place_of(u32 what) {
    const u64 key = u64(module_.site(pc_of(what))) << 7 | (what & 127);
    const auto [entry, is_new] = places_.emplace(key, u32(entries_of_.size()));
    if (is_new) entries_of_.emplace_back(), next_.push_back(0);
    return entry->second;
  }

  const Module& module_;
  std::unordered_map<u64, u32> places_;
  std::vector<std::vector<u32>> entries_of_;  // [place][occurrence]
  std::vector<u32> next_;                     // [place], of the lane being added
  std::vector<Entry> entries_;
};

// Their lanes are grouped as those of a store are.
bool is_served_as_store(Op op) {
  return op == Op::STORE_SHARED || op == Op::LOAD_MATRIX || op == Op::STORE_MATRIX;
}

bool is_copy(Op op) {
  return op == Op::COPY_TO_SHARED || op == Op::COPY_PAST_L1 || op == Op::COPY_PAST_L1_FILLED;
}

bool counts_sectors(Op op) {
  return op == Op::LOAD_GLOBAL || op == Op::STORE_GLOBAL || op == Op::COPY_FROM_GLOBAL;
}

// Wavefronts of a shared-memory request, sectors of a global one; nothing for an atomic.
Cost cost_of(Op op, u32 width, const Request& request) {
  const auto& [mask, address] = request;
  if (op == Op::LOAD_SHARED) return shared_wavefronts(address, mask, width, Serve::LOAD);
  if (is_served_as_store(op)) return shared_wavefronts(address, mask, width, Serve::STORE);
  if (counts_sectors(op)) return global_sectors(address, mask, width);
  return {0, 0};
}

}  // namespace

void RequestCounter::count_diverged(const WarpEvents& events, size_t from) {
  Occurrences occurrences(*module_);
  for (u32 n = 0; n < WARP; ++n) {
    occurrences.begin_lane();
    for (size_t i = from; i < events.lane[n].size(); ++i)
      occurrences.add(n, events.lane[n].begin[i]);
  }
  for (const auto& [what, request] : occurrences.entries())
    count_request(what, request, events.warp);
}

// Loops repeat: the instruction that followed the last one before follows it again.
Instruction& RequestCounter::instruction(u32 what) {
  Instruction* next = last_->next;
  if (!next || next->what != what) {
    next = last_->next = &instructions_[what];
    next->what = what;
  }
  return *(last_ = next);
}

Instruction& RequestCounter::instruction_of_block(u32 what) {
  Instruction& all = instruction(what);
  if (all.block != block_) {
    all.block = block_, all.requests = 0;
    std::fill_n(all.times, MAX_THREADS / WARP, 0);
  }
  return all;
}

void RequestCounter::count_request(u32 what, const Request& request, u32 warp) {
  const Op op = op_of(what);
  if (op == Op::MARK) return;
  if (op == Op::COPY_FROM_GLOBAL) {
    sources_[warp] = {what, request};
    return;
  }
  if (is_copy(op)) return count_copy(what, request, warp);
  if (!merging_.empty())
    if (const u32 widest = module_->merged_width(pc_of(what), op, 1u << log2_width_of(what))) {
      merging_[warp].push_back({what, widest, request});
      return;
    }
  count_access(what, request, warp);
}

void RequestCounter::count_merged(u32 warp) {
  for (const Mergeable& one : merged(merging_[warp])) count_access(one.what, one.request, warp);
  merging_[warp].clear();
}

void RequestCounter::count_access(u32 what, const Request& request, u32 warp) {
  const Op op = op_of(what);
  Instruction& all = instruction_of_block(what);
  Cost cost;
  if (Sample* known = all.samples.find(request)) {
    known->requests += 1;
    cost = known->cost;
  } else {
    cost = cost_of(op, 1u << log2_width_of(what), request);
    all.samples.keep({block_, warp, all.times[warp], all.requests, 1, cost, 0, request});
  }
  add_request(all, request, cost, warp);
}

// Here the dynamic array begins at no rounder an address than it has declared
// (dynamic_shared.S). On a GPU it begins at 0, behind static arrays that mostly fill whole rows of
// banks; and where a copy's pieces lie in a sector decides what it costs.
Request RequestCounter::as_on_a_gpu(const Request& to) const {
  constexpr u32 ROW = 128;
  Request there = to;
  if (module_->dynamic_offset < 0) return there;
  const u32 begin = u32(module_->dynamic_offset);
  for (u32& address : there.address)
    if (address >= begin) address -= begin % ROW;
  return there;
}

// Both sides of a cp.async, whose costs depend on either side's addresses.
void RequestCounter::count_copy(u32 what, const Request& to, u32 warp) {
  auto [from_what, from] = sources_[warp];
  u32 reads = 0;
  for (u32 n = 0; n < WARP; ++n)
    reads |= u32(to.mask & from.mask & 1u << n && from.address[n] != NO_SOURCE) << n;
  const Op op = op_of(what);
  const Request there = as_on_a_gpu(to);
  const Copies copies = {to.mask,
                         reads,
                         there.address,
                         from.address,
                         1u << log2_width_of(what),
                         op != Op::COPY_TO_SHARED,
                         op == Op::COPY_PAST_L1_FILLED};
  const auto add = [&](u32 side, const Request& request, Cost cost) {
    Instruction& all = instruction_of_block(side);
    all.samples.keep({block_, warp, all.times[warp], all.requests, 1, cost, 0, request});
    add_request(all, request, cost, warp);
  };
  add(what, to, copy_wavefronts(copies));
  if (!reads) return;
  const Cost sectors = copy_sectors(copies);
  from.mask = reads;
  for (u32 n = 0; n < WARP; ++n)
    if (!(reads >> n & 1)) from.address[n] = from.address[__builtin_ctz(reads)];
  add(from_what, from, sectors);
}

void RequestCounter::add_request(Instruction& all, const Request& request, Cost cost, u32 warp) {
  all.times[warp] += 1, all.requests += 1;
  Counter& counter = all.counter;
  counter.requests += 1;
  counter.lanes += u32(__builtin_popcount(request.mask));
  const bool is_global = counts_sectors(op_of(all.what));
  (is_global ? counter.sectors : counter.wavefronts) += cost.actual;
  (is_global ? counter.sectors_min : counter.wavefronts_min) += cost.minimum;
}

}  // namespace sim
