// tma_03_store: C leaves by the copy engine, too; M is any, N and K are multiples of 8.
//
// Change: sums go to shared memory as the engine stores them: boxes of 128 bytes a row, swizzled.
//   Threads write by the generic proxy, the engine reads by the async one: every thread has a fence
//   between its writes and the barrier, and behind that, thread 0 names the boxes. What of a box is
//   outside of C is not stored, so tiles may reach over the edge. Old values of C, for beta, are
//   read by the threads, which ask where C ends.
// Limit: one barrier for all in every tile; and while C leaves, this block loads nothing.
// Source: article 002 hgemm_tma_rw_k_stages, announced there and not written.
// In the article: the design is ours; its fastest BK is 32 ("tma 03, BK = 32").
#pragma once
#include <ptx/fence.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"
#include "../common/launch/tensor_map.cuh"

namespace tma_03_store {

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
// The engine XORs bits 4 to 6 of an address with bits 7 to 9. Of an offset in elements of 2 bytes
// these are bits 3 to 5 and 6 to 8: 3 bits, from 3 places higher.
constexpr int BITS_A = 3, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 3;
constexpr int BOX = 64;                                      // columns of a box of B
constexpr int STAGES = 3, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
constexpr int SMEM_BYTES = STAGES * (STAGE_BYTES + 8);       // and an mbarrier each
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, const TC* C, int M, int N, int K, float alpha,
           float beta) {
  // [align]
  // The engine swizzles by the address, `swizzle` by the offset in a tile. Where tiles begin at
  // multiples of 1024, bits 0 to 9 of both are the same. An array begins at a multiple of what its
  // declaration says, in dynamic shared memory, too: PTX ISA, .align.
  extern __shared__ __align__(1024) unsigned char smem[];
  // [/align]
  T *sA = reinterpret_cast<T*>(smem), *sB = sA + BM * BK;             // in stage 0
  const uint32_t full_addr = smem_addr(smem + STAGES * STAGE_BYTES);  // mbarrier of stage 0

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  // [order]
  const int2 tile = tile_at(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  // [/order]

  // [map]
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A, lane l names row
  // l % 16, in its left half for l < 16, else in its right one; of a 16x8 of B, row l % 16, where
  // lanes 16 to 31 are not asked.
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const int a_from = (m + lane_id % 16) * BK + lane_id / 16 * 8;
  const int b_from = (n / BOX * BK + lane_id % 16) * BOX + n % BOX;
  const uint32_t sA_addr = smem_addr(sA + swizzle<BITS_A, SHIFT_A>(a_from));
  const uint32_t sB_addr = smem_addr(sB + swizzle<BITS_B, SHIFT_B>(b_from));
  // [/map]

  // [init]
  if (tid == 0) {
    // A phase ends with thread 0's arrival and all of the bytes that it announces.
    for (int i = 0; i < STAGES; ++i) mbarrier_init(full_addr + i * 8, 1);
    fence_mbarrier_init();  // the engine sees them, too
    // Empty matrices have no maps.
    if (K > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    tma_prefetch(&map_c);
  }
  __syncthreads();
  // [/init]

  // [load]
  auto load_tiles = [&](int k_tile, int stage) {
    if (tid != 0 || k_tile >= K) return;
    const uint32_t bar_addr = full_addr + stage * 8;
    const uint32_t to_a_addr = smem_addr(smem + stage * STAGE_BYTES);
    const uint32_t to_b_addr = to_a_addr + BM * BK * sizeof(T);
    mbarrier_arrive_expect_tx(bar_addr, STAGE_BYTES);  // zeros are bytes, too
    tma_load_2d(to_a_addr, &map_a, bar_addr, k_tile, block_m);
#pragma unroll
    for (int j = 0; j < BN; j += BOX)
      tma_load_2d(to_b_addr + j * BK * sizeof(T), &map_b, bar_addr, block_n + j, k_tile);
  };
  // [/load]

  float acc[WMITER][WNITER][4] = {};
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) load_tiles(i * BK, i);
  int stage = 0, free_stage = STAGES - 1, parity = 0;  // parity: changes with every round
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [pipeline]
    __syncthreads();  // everyone has read the tiles before: their stage is free
    load_tiles(k_tile + (STAGES - 1) * BK, free_stage);
    mbarrier_wait(full_addr + stage * 8, parity);  // these tiles are in place
    const uint32_t sA_tile_addr = sA_addr + stage * STAGE_BYTES;
    const uint32_t sB_tile_addr = sB_addr + stage * STAGE_BYTES;
    free_stage = stage;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    if (stage == 0) parity ^= 1;
    // [/pipeline]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      // Rows 16 apart are swizzled alike: their distance is added. Columns, k_mma and wn * MMA_N,
      // are XORed like the bits of the row before them. With this loop unrolled, fragments are
      // loaded ahead of their products, as far as there are registers.
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], (sA_tile_addr ^ k_mma * sizeof(T)) + wm * MMA_M * BK * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn],
                          (sB_tile_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BOX * sizeof(T));
      // [/fragments]
      mma_tiles<T>(acc, rA, rB);
    }
  }

  // [place]
  // In bytes: box n / BOX_C, row, place in the row. 8-byte stores go by half warps: 4 rows, 32
  // bytes of each. The swizzle puts those of rows 2i and 2i + 1 into the same banks, with their
  // halves exchanged; so where C is float, odd rows take their columns in another order, 16 apart.
  constexpr int BOX_C = 128 / sizeof(TC), TURN = sizeof(TC) == 4 ? 16 : 0;
  const int turn = lane_id / 4 % 2 * TURN;
  const int row = m + lane_id / 4, col = n + (lane_id % 4 * 2 ^ turn);
  const int to = (n / BOX_C * BM + row) * 128 + col % BOX_C * sizeof(TC);
  const int at = swizzle<BITS_A, SHIFT_A>(to / 2) * 2;
  __syncthreads();  // everyone has read the last tiles
#pragma unroll
  for (int i = 0; i < WM; i += 8)
#pragma unroll
    for (int j = 0; j < WN; j += 8) {
      const float* sums = &acc[i / 16][j / 8][i % 16 / 4];
      const float* others = &acc[i / 16][(j ^ TURN) / 8][i % 16 / 4];
      float2 c =
          make_float2(alpha * (turn ? others[0] : sums[0]), alpha * (turn ? others[1] : sums[1]));
      const int in_row = block_m + row + i, in_col = block_n + (col ^ j);
      if (beta != 0.0f && in_row < M && in_col < N) {
        const float2 old = load2(C + (size_t)in_row * N + in_col);
        c.x += beta * old.x, c.y += beta * old.y;
      }
      store2(reinterpret_cast<TC*>(smem + (at ^ j * sizeof(TC)) + i * 128), c);
    }
  // [/place]

  // [store]
  fence_proxy_async();  // what this thread has written, the engine may read
  __syncthreads();      // and what all have
  if (tid == 0) {
#pragma unroll
    for (int j = 0; j < BN; j += BOX_C)
      tma_store_2d(&map_c, smem_addr(smem + j * BM * sizeof(TC)), block_n + j, block_m);
    bulk_commit();
    bulk_wait_read<0>();  // the block's shared memory must last until the engine has read it
  }
  // [/store]
}

}  // namespace tma_03_store

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_tma_03_store(const GemmArgs& g, cudaStream_t stream) {
  using namespace tma_03_store;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x32 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BK * 2 == 128 && BOX * 2 == 128, "a row of a box is what the swizzle spans");
  static_assert(BN % BOX == 0 && BOX % WN == 0, "whole boxes, and a warp reads of one");
  static_assert(128 / sizeof(TC) % WN == 0 && WN == 32,
                "a warp writes to one box, columns 16 apart");
  static_assert(BM * BN * sizeof(TC) <= STAGES * STAGE_BYTES, "C takes the place of A and B");
  static_assert(STAGES >= 2, "one to multiply, one to fill");
  // [encode]
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  TC* C = static_cast<TC*>(g.C);
  CUtensorMap map_a, map_b, map_c;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, g.N, BK, BOX, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error =
      encode_tensor_map(&map_c, C, g.M, g.N, g.N, BM, 128 / sizeof(TC), CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  // [/encode]
  // [attribute]
  error =
      cudaFuncSetAttribute(kernel<T, TC>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  // [/attribute]
  return launch(kernel<T, TC>, dim3(ceil_div(g.M, BM) * ceil_div(g.N, BN)), dim3(THREADS),
                SMEM_BYTES, stream, map_a, map_b, map_c, C, g.M, g.N, g.K, g.alpha, g.beta);
}
