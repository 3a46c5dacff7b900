// Which tile of hgemm_20_any_shape runs. 20_any_shape.cuh includes it behind its configurations.
#pragma once
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_20_any_shape {

// [choice]
constexpr int COST[TILES] = {100, 100, 105, 125, 125, 160, 350};  // of an element of C, 64 k deep
constexpr long long ADDING = 8000000;                             // of add_slices, in the same unit
constexpr int MIN_SLICE = 4;                                      // k tiles

struct Choice {
  int tile = -1, slices = 1, slice_k = BK;  // tile -1: none has room
};

// The configuration asked for, else the one that should take least time: one tile after the other
// on each SM, where a smaller one takes longer for an element. At most 16 rows take the thin tile,
// and nothing else does. Slices: as many as fill the SMs once.
inline Choice choose(const GemmArgs& g) {
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount), k_tiles = ceil_div(g.K, BK);
  const int room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const bool asked = g.config >= 0 && g.config < CONFIGS;
  Choice best;
  long long least = 0;
  for (int i = asked ? g.config : 0; i <= (asked ? g.config : CONFIGS - 1); ++i) {
    const int tile = i < TILES ? i : i - TILES + SPLIT;
    with_tile(tile, [&](auto of) {
      using S = decltype(of);
      if (!asked && S::THIN != (g.M <= THIN_ROWS)) return;
      const int tiles = ceil_div(g.M, S::BM) * ceil_div(g.N, S::BN), places = sms * S::PER_SM;
      const int wanted = i < TILES || tiles == 0 ? 1 : min(places / tiles, k_tiles / MIN_SLICE);
      const int deep = max(1, ceil_div(k_tiles, max(1, wanted)));
      const int slices = max(1, ceil_div(k_tiles, deep));
      const long long cost =
          (long long)S::BM * S::BN * COST[tile] * deep * ceil_div(tiles * slices, places) +
          (slices > 1 ? ADDING : 0);
      if (S::SMEM_BYTES > room || (best.tile >= 0 && cost >= least)) return;
      best = {tile, slices, deep * BK};
      least = cost;
    });
  }
  return best;
}
// [/choice]

}  // namespace hgemm_20_any_shape
