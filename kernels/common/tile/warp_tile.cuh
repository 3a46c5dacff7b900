// A warp's part of C out of stages that the copy engine fills: fragments one step ahead of their
// products, as in hgemm_18_wide_tile.
#pragma once
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/mma.cuh>
#include <ptx/register.cuh>

#include "../launch/host.cuh"
#include "swizzle.cuh"

constexpr int LINE = 64;  // elements in a row of a box of A or B: the 128 bytes of the swizzle

// WM x WN of C, from row m and column n of the tile on. A stage holds BM rows of A, LINE elements
// each, then B in boxes of LINE columns and LINE rows; all swizzled. LAYOUT: of GemmArgs; where B
// is turned, so are its boxes: a row is LINE k of a column.
template <class T, int BM, int WM, int WN, int LAYOUT = 0>
struct WarpTile {
  static constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16, STEPS = LINE / MMA_K;
  static constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
  static constexpr bool TURN_B = LAYOUT & TURNED_B;
  float acc[WMITER][WNITER][4];
  // Two sets: step % 2 is multiplied, the other is loaded. rB[.][j] is two fragments side by side.
  uint32_t rA[2][WMITER][4], rB[2][WNITER / 2][4];
  // In stage 0: of each 16 k of A, and of a turned B, else of each 16 columns of B. An XOR for each
  // load would take longer.
  uint32_t a_addr[STEPS], b_addr[TURN_B ? STEPS : WNITER / 2];

  // Of a 16x16 of A or B, lane l names row l % 16, in its left half for l < 16, else in its right
  // one.
  __device__ WarpTile(uint32_t stage_addr, int m, int n, int lane_id) {
    const int row = lane_id % 16, half = lane_id / 16 * 8;
    const int a_from = (m + row) * LINE + half;
    const int b_from = (BM + n / LINE * LINE + row) * LINE + n % LINE + half;
    static_assert(BM % 8 == 0, "the swizzle of B begins where B does");
    // Else the compiler computes an address again for every tile, to save its register.
#pragma unroll
    for (int step = 0; step < STEPS; ++step)
      a_addr[step] = in_register(stage_addr + swizzle<3, 3>(a_from + step * MMA_K) * sizeof(T));
    if constexpr (TURN_B) {  // lanes 8 to 15 name the right half of the rows of lanes 0 to 7
      const int from = (BM + n + half + lane_id % 8) * LINE + lane_id / 8 % 2 * 8;
#pragma unroll
      for (int step = 0; step < STEPS; ++step)
        b_addr[step] = in_register(stage_addr + swizzle<3, 3>(from + step * MMA_K) * sizeof(T));
    } else {
#pragma unroll
      for (int j = 0; j < WNITER / 2; ++j)
        b_addr[j] = in_register(stage_addr + swizzle<3, 3>(b_from + j * 2 * MMA_N) * sizeof(T));
    }
  }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < WMITER * WNITER * 4; ++i) acc[i / 4 / WNITER][i / 4 % WNITER][i % 4] = 0.0f;
  }
  // Rows 16 apart are swizzled alike: their distance is added. offset: of the stage, in bytes.
  // HEIGHT: how many fragments of A, from the top of the part on.
  template <int HEIGHT>
  __device__ __forceinline__ void load(int step, int offset) {
#pragma unroll
    for (int j = 0; j < WNITER / 2; ++j)
      if constexpr (TURN_B)
        ldmatrix_x4(rB[step % 2][j], b_addr[step] + offset + j * 2 * MMA_N * LINE * sizeof(T));
      else
        ldmatrix_x4_trans(rB[step % 2][j], b_addr[j] + offset + step * MMA_K * LINE * sizeof(T));
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
      ldmatrix_x4(rA[step % 2][i], a_addr[step] + offset + i * MMA_M * LINE * sizeof(T));
  }
  // Column by column, down and up: the fragment of B stays, and at the turn the one of A does.
  template <int HEIGHT>
  __device__ __forceinline__ void multiply(int step) {
#pragma unroll
    for (int j = 0; j < WNITER; ++j)
#pragma unroll
      for (int turn = 0; turn < HEIGHT; ++turn) {
        const int i = j % 2 ? HEIGHT - 1 - turn : turn;
        const uint32_t* b = &rB[step % 2][j / 2][j % 2 * 2];
        const uint32_t fragment[2] = {b[0], b[1]};
        mma_m16n8k16<T>(acc[i][j], rA[step % 2][i], fragment);
      }
  }

  // Adds the products of `depth` k tiles, in the next stages of the ring. HEIGHT: as above, where
  // C ends below these fragments.
  template <int HEIGHT = WMITER, class Ring>
  __device__ __forceinline__ void multiply_tiles(Ring& ring, int depth, int lane_id) {
    if (depth == 0) return;
    uint32_t used_addr = 0;
    ring.wait_full();
    load<HEIGHT>(0, ring.offset);
#pragma unroll 1
    for (int k_tile = 0; k_tile < depth; ++k_tile) {
      // An arrival does not wait for an ldmatrix that has still to read, and the copy engine would
      // overwrite it. Here, all fragments of the tile before have been multiplied.
      if (k_tile > 0) release<Ring>(used_addr, lane_id);
      const int offset = ring.offset;
      used_addr = ring.empty_addr();
      ring.next();
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        if (step < STEPS - 1) {
          load<HEIGHT>(step + 1, offset);
        } else if (k_tile + 1 < depth) {
          ring.wait_full();
          load<HEIGHT>(0, ring.offset);
        }
        multiply<HEIGHT>(step);
      }
    }
    release<Ring>(used_addr, lane_id);
  }
  // Their stages go by, for a warp whose part lies outside of C.
  template <class Ring>
  __device__ __forceinline__ static void pass_tiles(Ring& ring, int depth, int lane_id) {
#pragma unroll 1
    for (int k_tile = 0; k_tile < depth; ++k_tile) {
      ring.wait_full();
      release<Ring>(ring.empty_addr(), lane_id);
      ring.next();
    }
  }
  template <class Ring>
  __device__ __forceinline__ static void release(uint32_t empty_addr, int lane_id) {
    __syncwarp();
    if (lane_id == 0) Ring::arrive_empty(empty_addr);
  }
};
