#include "requests.h"

#include <algorithm>

#include "banks.h"

namespace sim {

void Counter::add(const Counter& other) {
  requests += other.requests;
  lanes += other.lanes;
  wavefronts += other.wavefronts;
  wavefronts_min += other.wavefronts_min;
  sectors += other.sectors;
  sectors_min += other.sectors_min;
}

u32 WarpEvents::active() const {
  u32 mask = 0;
  for (u32 n = 0; n < WARP; ++n) mask |= u32(lane[n].size() > 0) << n;
  return mask;
}

size_t WarpEvents::common() const {
  const u32 mask = active();
  if (!mask) return 0;
  const LaneEvents& first = lane[__builtin_ctz(mask)];
  size_t agreed = first.size();
  for (u32 n = 0; n < WARP; ++n) {
    if (!(mask >> n & 1)) continue;
    agreed = std::min(agreed, lane[n].size());
    for (size_t i = 0; i < agreed; ++i)
      if (what_of(lane[n].begin[i]) != what_of(first.begin[i])) agreed = i;
  }
  return agreed;
}

bool WarpEvents::uniform() const {
  const size_t agreed = common();
  return std::all_of(lane, lane + WARP,
                     [&](const LaneEvents& l) { return !l.size() || l.size() == agreed; });
}

void RequestCounter::count(const WarpEvents& events) {
  const size_t agreed = events.common();
  count_in_step(events, agreed);
  const auto more = [&](const LaneEvents& l) { return l.size() > agreed; };
  if (std::any_of(events.lane, events.lane + WARP, more)) count_diverged(events, agreed);
}

void RequestCounter::count_in_step(const WarpEvents& events, size_t steps) {
  const u32 mask = events.active();
  if (!mask) return;
  const Event* first = events.lane[__builtin_ctz(mask)].begin;
  const Event* lane[WARP];  // an inactive lane's address is not looked at
  for (u32 n = 0; n < WARP; ++n) lane[n] = mask >> n & 1 ? events.lane[n].begin : first;
  for (size_t i = 0; i < steps; ++i) {
    u32 address[WARP];
    for (u32 n = 0; n < WARP; ++n) address[n] = address_of(lane[n][i]);
    count_request(what_of(first[i]), address, mask);
  }
}

namespace {

// Requests under construction, found by (place in the source, occurrence).
class Occurrences {
 public:
  struct Request {
    u32 what, mask;
    u32 address[WARP];
  };

  explicit Occurrences(const Module& module) : module_(module) {}

  void begin_lane() { std::fill(next_.begin(), next_.end(), 0); }

  void add(u32 lane, Event event) {
    const u32 place = place_of(what_of(event));
    const u32 k = next_[place]++;
    if (k == requests_of_[place].size()) {
      requests_of_[place].push_back(u32(requests_.size()));
      requests_.push_back({what_of(event), 0, {}});
    }
    Request& request = requests_[requests_of_[place][k]];
    request.mask |= 1u << lane;
    request.address[lane] = address_of(event);
  }

  const std::vector<Request>& requests() const { return requests_; }

 private:
  // A small number for each place in the source, operation and width.
  u32 place_of(u32 what) {
    const u64 key = u64(module_.site(pc_of(what))) << 7 | (what & 127);
    const auto [entry, is_new] = places_.emplace(key, u32(requests_of_.size()));
    if (is_new) requests_of_.emplace_back(), next_.push_back(0);
    return entry->second;
  }

  const Module& module_;
  std::unordered_map<u64, u32> places_;
  std::vector<std::vector<u32>> requests_of_;  // [place][occurrence]
  std::vector<u32> next_;                      // [place], of the lane being added
  std::vector<Request> requests_;
};

}  // namespace

void RequestCounter::count_diverged(const WarpEvents& events, size_t from) {
  Occurrences occurrences(*module_);
  for (u32 n = 0; n < WARP; ++n) {
    occurrences.begin_lane();
    for (size_t i = from; i < events.lane[n].size(); ++i)
      occurrences.add(n, events.lane[n].begin[i]);
  }
  for (const auto& request : occurrences.requests())
    count_request(request.what, request.address, request.mask);
}

void RequestCounter::count_request(u32 what, const u32 (&address)[WARP], u32 mask) {
  Counter& counter = counters_[what];
  const Op op = op_of(what);
  const u32 width = 1u << log2_width_of(what);
  counter.requests += 1;
  counter.lanes += u32(__builtin_popcount(mask));
  if (op == Op::LOAD_SHARED || op == Op::STORE_SHARED) {
    const Cost cost = shared_wavefronts(address, mask, width, op == Op::LOAD_SHARED);
    counter.wavefronts += cost.actual;
    counter.wavefronts_min += cost.minimum;
  } else if (op == Op::LOAD_GLOBAL || op == Op::STORE_GLOBAL) {
    const Cost cost = global_sectors(address, mask, width);
    counter.sectors += cost.actual;
    counter.sectors_min += cost.minimum;
  }
}

}  // namespace sim
