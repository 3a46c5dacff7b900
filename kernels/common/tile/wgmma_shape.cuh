// What a kernel of producers and wgmma consumers is made for, as one value: tile, stages,
// warpgroups and cluster; and what follows from it.
#pragma once
#include "../store/warpgroup_store.cuh"
#include "stage_ring.cuh"

// A block's tile is BM x BN, 64 k deep, and CONSUMERS warpgroups have BM / CONSUMERS rows each.
// CLUSTER blocks, one below the other, share the columns of B, which come in boxes of 64.
template <int BM_, int BN_, int STAGES_, int CONSUMERS_, int CLUSTER_, bool TRANSPOSED = false>
struct WgmmaShape {
  static constexpr int BM = BM_, BN = BN_, BK = 64, STAGES = STAGES_, CONSUMERS = CONSUMERS_;
  static constexpr int CLUSTER = CLUSTER_, WM = BM / CONSUMERS, B_COLUMNS = ceil_div(BN, 64) * 64;
  static constexpr int LAYOUT = 0;  // of A and B in memory, as GemmArgs::layout
  static constexpr int THREADS = (CONSUMERS + 1) * 128, WARPS = CONSUMERS * 4;
  static constexpr int A_BYTES = BM * BK * 2, STAGE_BYTES = A_BYTES + B_COLUMNS * BK * 2;
  using Ring = StageRing<STAGES, STAGE_BYTES>;
  static constexpr int PIECE_COLUMNS = BN % 64 == 0 ? 64 : BN % 48 == 0 ? 48 : BN & -BN;  // of C
  static constexpr int OUT_BYTES = TRANSPOSED ? PIECE_COLUMNS * 64 : StoreRing<>::BYTES;
  // The stages (a tile of A, then B), the warps' buffers of C (OUT_BYTES each), the mbarriers.
  static constexpr int OUT = STAGES * STAGE_BYTES, BARS = OUT + WARPS * OUT_BYTES;
  static constexpr int SMEM_BYTES = BARS + Ring::BYTES;
  static constexpr bool GIVES = CONSUMERS > 1;  // whether the producer gives registers away
  static constexpr int AT_LAUNCH = 65536 / THREADS / 8 * 8;  // registers: 168 for 384 threads
  static constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = CONSUMERS == 3 ? 152 : 232;
  static_assert(PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= (CONSUMERS + 1) * AT_LAUNCH,
                "more than at launch: setmaxnreg waits for ever");
  static_assert(BM % 64 == 0 && PIECE_COLUMNS % 16 == 0 && CONSUMERS <= 3, "whole pieces");
  static_assert(STAGE_BYTES % 1024 == 0 && SMEM_BYTES <= 232448, "the swizzle's pattern, an SM");
};
