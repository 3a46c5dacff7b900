#include "banks.h"

#include <algorithm>

namespace sim {

namespace {

// The words that one phase asks of each bank, every word once.
class Phase {
 public:
  void want(u32 word) {
    const u32 bank = word % BANKS;
    for (u32 i = 0; i < queued_[bank]; ++i)
      if (words_[bank][i] == word) return;
    words_[bank][queued_[bank]++] = word;
    longest_ = std::max<u32>(longest_, queued_[bank]);
    ++count_;
  }
  u32 wavefronts() const { return longest_; }
  u32 words() const { return count_; }

 private:
  u8 queued_[BANKS] = {};
  u32 longest_ = 0, count_ = 0;
  u32 words_[BANKS][WARP];  // a lane wants at most one word of a bank
};

Phase phase_of(const u32 (&address)[WARP], u32 mask, u32 width) {
  Phase phase;
  for (; mask; mask &= mask - 1) {
    const u32 at = address[__builtin_ctz(mask)];
    for (u32 byte = 0; byte < width; byte += WORD) phase.want((at + byte) / WORD);
  }
  return phase;
}

u32 lanes_from(u32 first, u32 count) { return u32(((u64(1) << count) - 1) << first); }

// Whether each lane n of `lanes` has the address of lane n ^ step. `alone`: one whose partner is
// inactive agrees.
bool agree(const u32 (&address)[WARP], u32 lanes, u32 step, bool alone) {
  for (u32 left = lanes; left; left &= left - 1) {
    const u32 n = u32(__builtin_ctz(left));
    const bool both = lanes >> (n ^ step) & 1;
    if (both ? address[n] != address[n ^ step] : !alone) return false;
  }
  return true;
}

// Whether the two phases of a load that `both` makes up may be served in one wavefront.
bool may_join(const u32 (&address)[WARP], u32 mask, u32 both, u32 width) {
  const bool first_of_four = width == 16 && both & lanes_from(0, WARP / 2);
  if (first_of_four && !(mask >> (WARP - 1))) return true;
  return agree(address, both, 1, !first_of_four) || agree(address, both, 2, !first_of_four);
}

bool is_one_address(const u32 (&address)[WARP], u32 mask) {
  const u32 first = address[__builtin_ctz(mask)];
  for (; mask; mask &= mask - 1)
    if (address[__builtin_ctz(mask)] != first) return false;
  return true;
}

// Two neighbouring phases of a load of 8 or 16 bytes.
Cost two_phases(const u32 (&address)[WARP], u32 mask, u32 low, u32 high, u32 width) {
  Cost cost = {0, u32(low != 0) + u32(high != 0)};
  if (low && high && may_join(address, mask, low | high, width)) {
    const Phase joined = phase_of(address, low | high, width);
    if (joined.wavefronts() == 1) return {1, 1};
    if (joined.words() <= BANKS) cost.minimum = 1;
  }
  cost.actual =
      phase_of(address, low, width).wavefronts() + phase_of(address, high, width).wavefronts();
  return cost;
}

Cost wide_load(const u32 (&address)[WARP], u32 mask, u32 width) {
  if (width == 16 && is_one_address(address, mask)) {
    const u32 count = (u32(__builtin_popcount(mask)) + 15) / 16;
    return {count, count};
  }
  const u32 lanes = WARP * WORD / width;
  Cost cost = {0, 0};
  for (u32 first = 0; first < WARP; first += 2 * lanes) {
    const u32 low = mask & lanes_from(first, lanes), high = mask & lanes_from(first + lanes, lanes);
    const Cost two = two_phases(address, mask, low, high, width);
    cost.actual += two.actual, cost.minimum += two.minimum;
  }
  return cost;
}

// Fast answer for the common cases: neighbours, or one address for all. 0 if it is another case.
u32 conflict_free(const u32 (&address)[WARP], u32 mask, u32 width) {
  if (width != WORD || mask != 0xffffffffu) return 0;
  bool same = true, row = true;
  for (u32 n = 1; n < WARP; ++n) {
    same &= address[n] == address[0];
    row &= address[n] == address[0] + WORD * n;
  }
  return same || row;
}

// Number of different values among 32 that are below 2^31. Most requests go up lane by lane.
u32 distinct(const u32 (&value)[WARP]) {
  u32 steps = 0, falls = 0;
  for (u32 n = 1; n < WARP; ++n) {
    steps += value[n] != value[n - 1];
    falls += int(value[n]) < int(value[n - 1]);
  }
  if (!falls) return steps + 1;
  u32 sorted[WARP];
  std::copy(value, value + WARP, sorted);
  std::sort(sorted, sorted + WARP);
  return u32(std::unique(sorted, sorted + WARP) - sorted);
}

}  // namespace

Cost shared_wavefronts(const u32 (&address)[WARP], u32 mask, u32 width, Serve serve) {
  if (const u32 one = conflict_free(address, mask, width)) return {one, one};
  if (serve == Serve::LOAD && width > WORD) return wide_load(address, mask, width);
  const u32 lanes = std::min(WARP, WARP * WORD / width);
  Cost cost = {0, 0};
  for (u32 first = 0; first < WARP; first += lanes) {
    const Phase phase = phase_of(address, mask & lanes_from(first, lanes), width);
    cost.actual += phase.wavefronts();
    cost.minimum += phase.wavefronts() > 0;
  }
  return cost;
}

Cost global_sectors(const u32 (&address)[WARP], u32 mask, u32 width) {
  const u32 someone = address[__builtin_ctz(mask)];  // stands in for inactive lanes
  u32 where[WARP], sector[WARP];
  for (u32 n = 0; n < WARP; ++n) {
    where[n] = mask >> n & 1 ? address[n] : someone;
    sector[n] = where[n] / SECTOR;
  }
  return {distinct(sector), (distinct(where) * width + SECTOR - 1) / SECTOR};
}

}  // namespace sim
