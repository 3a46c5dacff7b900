#include "banks.h"

#include <algorithm>

namespace sim {

namespace {

constexpr u32 BANKS = 32;
constexpr u32 WORD = 4;  // bytes
constexpr u32 SECTOR = 32;

// Whether every active lane n agrees with lane n ^ step, as far as that one is active.
bool paired(const u32 (&address)[WARP], u32 mask, u32 step) {
  for (u32 n = 0; n < WARP; ++n) {
    const bool both = mask >> n & 1 && mask >> (n ^ step) & 1;
    if (both && address[n] != address[n ^ step]) return false;
  }
  return true;
}

// How many lanes are served together.
u32 lanes_per_phase(const u32 (&address)[WARP], u32 mask, u32 width, bool load) {
  if (width <= WORD) return WARP;
  const u32 lanes = WARP * WORD / width;
  const bool pairs = load && (paired(address, mask, 1) || paired(address, mask, 2));
  return pairs ? 2 * lanes : lanes;
}

// The words that one phase asks of each bank, every word once.
class Phase {
 public:
  void want(u32 word) {
    const u32 bank = word % BANKS;
    for (u32 i = 0; i < queued_[bank]; ++i)
      if (words_[bank][i] == word) return;
    words_[bank][queued_[bank]++] = word;
    longest_ = std::max<u32>(longest_, queued_[bank]);
  }
  u32 wavefronts() const { return longest_; }

 private:
  u8 queued_[BANKS] = {};
  u32 longest_ = 0;
  u32 words_[BANKS][WARP];  // a lane wants at most one word of a bank
};

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

Cost shared_wavefronts(const u32 (&address)[WARP], u32 mask, u32 width, bool load) {
  if (const u32 one = conflict_free(address, mask, width)) return {one, one};
  const u32 lanes = lanes_per_phase(address, mask, width, load);
  Cost cost = {0, 0};
  for (u32 first = 0; first < WARP; first += lanes) {
    Phase phase;
    for (u32 n = first; n < first + lanes; ++n) {
      if (!(mask >> n & 1)) continue;
      for (u32 byte = 0; byte < width; byte += WORD) phase.want((address[n] + byte) / WORD);
    }
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
