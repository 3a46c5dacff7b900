// A warp's part of C from mma.sync, out of stages that cp.async fills: fragments one step of 16 k
// ahead of their products, one barrier a tile. hgemm_18_wide_tile explains it, where it stands
// inline.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "../launch/host.cuh"
#include "swizzle.cuh"

// BM x BN of C a block, WM x WN a warp, 64 k a tile. Stages are given by their offset in bytes;
// each holds a tile of A, then one of B, rows swizzled. ANY_K: the number of k is any, 0 included;
// else it is a multiple of BK. LAYOUT: bits of GemmArgs::layout; of a matrix that is turned, the
// tile is turned as well: of A 64 rows of BM elements, of B BN rows of 64. Registers are the
// kernel's own arrays: as members of one struct, they would come to other instructions.
template <class T, int BM, int BN, int WM, int WN, int STAGES, bool ANY_K, int LAYOUT = 0>
struct MmaPipeline {
  static constexpr int BK = 64, MMA_M = 16, MMA_N = 8, MMA_K = 16, STEPS = BK / MMA_K;
  static constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
  static constexpr int BITS = 3, SHIFT_A = 3, SHIFT_B = 3 + BN / 128;  // 64, 128 or 256 elements
  static constexpr int STAGE_BYTES = BK * (BM + BN) * 2, SMEM_BYTES = STAGES * STAGE_BYTES;
  static constexpr int THREADS = 32 * (BM / WM) * (BN / WN);
  static_assert(STAGES >= 3 && STEPS % 2 == 0, "fragments alternate between two sets");
  static_assert(8 << (BITS + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS + SHIFT_B) <= MMA_K * BN, "16 rows of sB on, the swizzle is the same");

  // Two sets: step % 2 is multiplied, the other is loaded. RB[.][j] is two fragments side by side.
  using RA = uint32_t[2][WMITER][4];
  using RB = uint32_t[2][WNITER / 2][4];
  using Sums = float[WMITER][WNITER][4];
  using BAddr = uint32_t[WNITER / 2];  // of each 16 columns: an XOR for each load would take longer
  static constexpr bool TURN_B = LAYOUT & TURNED_B;

  __device__ __forceinline__ static int after(int stage) {
    return stage == SMEM_BYTES - STAGE_BYTES ? 0 : stage + STAGE_BYTES;
  }

  // [map]
  // Warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A or B, lane l names row l % 16,
  // in its left half for l < 16, else in its right one. Returns the address of A.
  __device__ __forceinline__ static uint32_t fragments(BAddr& sB_addr, const T* sA, const T* sB,
                                                       int warp_id, int lane_id) {
    const int m = warp_id / (BN / WN) * WM;
    const int n = warp_id % (BN / WN) * WN;
    const int a_from = (m + lane_id % 16) * BK + lane_id / 16 * 8;
    const int b_from = lane_id % 16 * BN + n + lane_id / 16 * 8;
    const uint32_t sA_addr = smem_addr(sA + swizzle<BITS, SHIFT_A>(a_from));
#pragma unroll
    for (int j = 0; j < WNITER / 2; ++j)
      sB_addr[j] = smem_addr(sB + swizzle<BITS, SHIFT_B>(b_from + j * 16));
    if constexpr (TURN_B) {  // a row of sB is a column of B: lanes 8 to 15 name its right half
      const int from = (n + lane_id / 16 * 8 + lane_id % 8) * BK + lane_id / 8 % 2 * 8;
      sB_addr[0] = smem_addr(sB + swizzle<BITS, SHIFT_A>(from));
    }
    return sA_addr;
  }
  // [/map]

  // [fragments]
  __device__ __forceinline__ static void load(RA& rA, RB& rB, uint32_t sA_addr,
                                              const BAddr& sB_addr, int step, int stage) {
    const uint32_t b_addr = (sB_addr[0] + stage) ^ step * MMA_K * sizeof(T);
#pragma unroll
    for (int j = 0; j < WNITER / 2; ++j)
      if constexpr (TURN_B)
        ldmatrix_x4(rB[step % 2][j], b_addr + j * 16 * BK * sizeof(T));
      else
        ldmatrix_x4_trans(rB[step % 2][j], sB_addr[j] + stage + step * MMA_K * BN * sizeof(T));
    const uint32_t a_addr = (sA_addr + stage) ^ step * MMA_K * sizeof(T);
#pragma unroll
    for (int i = 0; i < WMITER; ++i)
      ldmatrix_x4(rA[step % 2][i], a_addr + i * MMA_M * BK * sizeof(T));
  }
  // [/fragments]

  // [products]
  // Column by column, down and up: the fragment of B stays, and at the turn the one of A does.
  __device__ __forceinline__ static void multiply(Sums& acc, const RA& rA, const RB& rB, int step) {
#pragma unroll
    for (int j = 0; j < WNITER; ++j)
#pragma unroll
      for (int turn = 0; turn < WMITER; ++turn) {
        const int i = j % 2 ? WMITER - 1 - turn : turn;
        const uint32_t* b = &rB[step % 2][j / 2][j % 2 * 2];
        const uint32_t fragment[2] = {b[0], b[1]};
        mma_m16n8k16<T>(acc[i][j], rA[step % 2][i], fragment);
      }
  }
  // [/products]

  // [pipeline]
  // Adds the products of k k_begin to k_end. copy_tiles(k, stage) starts this thread's copies of
  // the tiles at k, if there are any, and commits them.
  template <class Copy>
  __device__ __forceinline__ static void multiply_tiles(Sums& acc, uint32_t sA_addr,
                                                        const BAddr& sB_addr, Copy& copy_tiles,
                                                        int k_begin, int k_end) {
    RA rA;
    RB rB;
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i) copy_tiles(k_begin + i * BK, i * STAGE_BYTES);
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    int stage = 0, free_stage = SMEM_BYTES - STAGE_BYTES;
    if (!ANY_K || k_begin < k_end) load(rA, rB, sA_addr, sB_addr, 0, 0);
#pragma unroll 1
    for (int k_tile = k_begin; k_tile < k_end; k_tile += BK) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        if (step == STEPS - 1) {
          cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
          __syncthreads();              // everyone's is; and everyone has read the present ones
          const bool last = ANY_K ? k_tile + BK >= k_end : k_tile + BK == k_end;
          stage = last ? 0 : after(stage);
        }
        // Behind the last tile: stage 0, and not used.
        load(rA, rB, sA_addr, sB_addr, (step + 1) % STEPS, stage);
        if (step == 0) {
          copy_tiles(k_tile + (STAGES - 1) * BK, free_stage);
          free_stage = after(free_stage);
        }
        multiply(acc, rA, rB, step);
      }
    }
  }
  // [/pipeline]
};
