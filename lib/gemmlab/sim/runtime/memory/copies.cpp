#include "copies.h"

#include <algorithm>

namespace sim {

namespace {

constexpr u32 PIECE = 16;  // bytes of a copy past L1
constexpr u32 SECTORS_OF_LINE = 4;

// A bit for each bank that a lane's bytes lie in.
u32 banks_of(u32 address, u32 width) {
  return ((1u << width / WORD) - 1) << address / WORD % BANKS;
}

// A phase takes one wavefront more than the lane with the most collisions has: with lanes that
// share a bank with it, in the source or in the destination, the same word included.
Cost through_l1(const Copies& copies) {
  u32 to[WARP], from[WARP];
  for (u32 n = 0; n < WARP; ++n) {
    to[n] = copies.mask >> n & 1 ? banks_of(copies.to[n], copies.width) : 0;
    from[n] = copies.reads >> n & 1 ? banks_of(copies.from[n], copies.width) : 0;
  }
  const u32 lanes = WARP * WORD / copies.width;
  Cost cost = {0, 0};
  for (u32 first = 0; first < WARP; first += lanes) {
    u32 most = 0;  // lanes that collide with one, itself included
    for (u32 n = first; n < first + lanes; ++n) {
      u32 count = 0;
      for (u32 m = first; m < first + lanes; ++m)
        count += (to[n] & to[m]) | (from[n] & from[m]) ? 1 : 0;
      most = std::max(most, count);
    }
    cost.actual += most;
    cost.minimum += most > 0;
  }
  return cost;
}

// Of the lanes with one destination the first.
u32 first_of_each(const Copies& copies) {
  u32 first = 0;
  for (u32 n = 0; n < WARP; ++n) {
    if (!(copies.mask >> n & 1)) continue;
    bool is_new = true;
    for (u32 m = 0; m < n; ++m) is_new &= !(first >> m & 1 && copies.to[m] == copies.to[n]);
    first |= u32(is_new) << n;
  }
  return first;
}

// What moves from one sector of the source to one of the destination.
struct SectorPair {
  u32 from, to;
  u32 pieces;  // a bit for each pair of halves
  u32 seat;    // its number among those of one kind and source

  // Whether the two may share a wavefront, as long as their sources differ.
  bool is_like(const SectorPair& other) const {
    return from / SECTORS_OF_LINE == other.from / SECTORS_OF_LINE &&
           to / SECTORS_OF_LINE == other.to / SECTORS_OF_LINE && pieces == other.pieces &&
           ((from ^ to) & 1) == ((other.from ^ other.to) & 1);
  }
};

u32 sector_pairs(const Copies& copies, SectorPair (&pairs)[WARP]) {
  u32 count = 0;
  for (u32 lanes = first_of_each(copies) & copies.reads; lanes; lanes &= lanes - 1) {
    const u32 n = u32(__builtin_ctz(lanes));
    const u32 from = copies.from[n] / SECTOR, to = copies.to[n] / SECTOR;
    const u32 halves = copies.from[n] / PIECE % 2 * 2 + copies.to[n] / PIECE % 2;
    SectorPair* const end = pairs + count;
    SectorPair* const pair =
        std::find_if(pairs, end, [&](const SectorPair& p) { return p.from == from && p.to == to; });
    if (pair == end) pairs[count++] = {from, to, 0, 0};
    pair->pieces |= 1u << halves;
  }
  return count;
}

Cost past_l1(const Copies& copies) {
  SectorPair pairs[WARP];
  const u32 count = sector_pairs(copies, pairs);
  Cost cost = {0, 0};
  for (u32 i = 0; i < count; ++i) {
    SectorPair& pair = pairs[i];
    for (u32 j = 0; j < i; ++j) pair.seat += pairs[j].is_like(pair) && pairs[j].from == pair.from;
    cost.actual += std::none_of(pairs, pairs + i, [&](const SectorPair& p) {
      return p.is_like(pair) && p.seat == pair.seat;
    });
  }
  const u32 bytes = PIECE * u32(__builtin_popcount(first_of_each(copies) & copies.reads));
  cost.minimum = (bytes + SECTORS_OF_LINE * SECTOR - 1) / (SECTORS_OF_LINE * SECTOR);
  return cost;
}

}  // namespace

Cost copy_wavefronts(const Copies& copies) {
  if (!copies.past_l1) return through_l1(copies);
  Cost cost = past_l1(copies);
  if (copies.zero_fill) {
    const Cost filled = through_l1(copies);
    cost.actual += filled.actual, cost.minimum += filled.minimum;
  }
  return cost;
}

Cost copy_sectors(const Copies& copies) {
  Cost cost = global_sectors(copies.from, copies.reads, copies.width);
  SectorPair pairs[WARP];
  if (copies.past_l1) cost.actual = sector_pairs(copies, pairs);
  return cost;
}

}  // namespace sim
