// What a kernel of producers and wgmma consumers is made for, as one value: tile, stages,
// warpgroups and cluster; and what follows from it.
#pragma once
#include "../store/warpgroup_store.cuh"
#include "stage_ring.cuh"

// A block's tile is BM x BN, 64 k deep, and CONSUMERS warpgroups have BM / CONSUMERS rows each.
// CLUSTER blocks, one below the other, share the columns of B, which come in boxes of 64.
template <int BM_, int BN_, int STAGES_, int CONSUMERS_, int CLUSTER_>
struct WgmmaShape {
  static constexpr int BM = BM_, BN = BN_, BK = 64, STAGES = STAGES_, CONSUMERS = CONSUMERS_;
  static constexpr int CLUSTER = CLUSTER_, WM = BM / CONSUMERS, B_COLUMNS = ceil_div(BN, 64) * 64;
  static constexpr int LAYOUT = 0;  // of A and B in memory, as GemmArgs::layout
  static constexpr int THREADS = (CONSUMERS + 1) * 128, WARPS = CONSUMERS * 4;
  static constexpr int A_BYTES = BM * BK * 2;
  static constexpr int STAGE_BYTES = A_BYTES + B_COLUMNS * BK * 2;  // a tile of A, then B
  using Ring = StageRing<STAGES, STAGE_BYTES>;
  static constexpr int PIECE_COLUMNS = BN % 64 == 0 ? 64 : BN % 48 == 0 ? 48 : 32;  // of C
  // The stages, the warps' buffers of C, the mbarriers.
  static constexpr int OUT = STAGES * STAGE_BYTES, BARS = OUT + WARPS * StoreRing<>::BYTES;
  static constexpr int SMEM_BYTES = BARS + Ring::BYTES;
  // Whether the producer gives registers away: with one consumer there are enough.
  static constexpr bool GIVES = CONSUMERS == 2;
  // A block of 384 threads has 168 registers each at launch.
  static constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
  static_assert(PRODUCER_REGISTERS + 2 * CONSUMER_REGISTERS <= 3 * 168,
                "more than the 168 that 384 threads begin with: setmaxnreg waits for ever");
  static_assert(BM % 64 == 0 && BN % PIECE_COLUMNS == 0 && CONSUMERS <= 2, "whole pieces");
  static_assert(STAGE_BYTES % 1024 == 0 && SMEM_BYTES <= 232448, "the swizzle's pattern, an SM");
};
