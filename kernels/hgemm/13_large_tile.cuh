// hgemm_13_large_tile: eight warps on a 128x128 tile of C, 32 k at a time, in strips of blocks.
//
// Change: a warp has 64x32 of C, 64 sums a thread instead of 128, so that 16 warps fit on an SM
//   and not 8. A tile spans 32 k: half as many barriers and waits, and of A's rows a copy reads 64
//   bytes instead of 32. Blocks take the tiles of C in strips of 8 rows of tiles (block_order.cuh;
//   the article's formula for that leaves tiles out unless 8 divides the grid).
// Limit: bank conflicts, as nothing is swizzled here. Every second row of sA is in the same banks,
//   16 wavefronts for .x4 instead of 4, and every row of sB, 16 for .x2 instead of 2.
// Source: article 000 hgemm_naive.
// In the article: its copies have the hint .L2::128B ("hgemm 13, L2::128B"), its strips are 8
//   columns of tiles ("hgemm 13, strips of columns"), and it waits for a group of its own, not for
//   all copies.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"

namespace hgemm_13_large_tile {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(128) T sA[BM * BK];
  __shared__ __align__(128) T sB[BK * BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  // [order]
  const int2 tile = tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  // [/order]

  // [map]
  // Copying: BK / 8 threads hold a row of A, BN / 8 threads a row of B.
  const int a_row = tid / (BK / 8), a_col = tid % (BK / 8) * 8;
  const int b_row = tid / (BN / 8), b_col = tid % (BN / 8) * 8;
  const T* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const T* gB = B + (size_t)b_row * N + block_n + b_col;
  const uint32_t to_a_addr = smem_addr(sA + a_row * BK + a_col);
  const uint32_t to_b_addr = smem_addr(sB + b_row * BN + b_col);
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A, lane l names row
  // l % 16, in its left half for l < 16, else in its right one; of a 16x8 of B, row l % 16, where
  // lanes 16 to 31 are not asked.
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const uint32_t sA_addr = smem_addr(sA + (m + lane_id % 16) * BK + lane_id / 16 * 8);
  const uint32_t sB_addr = smem_addr(sB + lane_id % 16 * BN + n);
  // [/map]

  float acc[WMITER][WNITER][4] = {};
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * 8 / BK)
      cp_async_cg(to_a_addr + i * BK * sizeof(T), gA + (size_t)i * K);
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 8 / BN)
      cp_async_cg(to_b_addr + i * BN * sizeof(T), gB + (size_t)i * N);
    cp_async_wait_all();  // this thread's part of both tiles is in place
    __syncthreads();      // everyone's is

    // [/load]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], sA_addr + (wm * MMA_M * BK + k_mma) * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn], sB_addr + (k_mma * BN + wn * MMA_N) * sizeof(T));
      // [/fragments]
      mma_tiles<T>(acc, rA, rB);
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
  }

  // [store]
  TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  write_tiles(gC, N, acc, lane_id, alpha, beta);
  // [/store]
}

}  // namespace hgemm_13_large_tile

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_13_large_tile(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_13_large_tile;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x32 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  return launch(kernel<T, TC>, dim3(g.M / BM * (g.N / BN)), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
