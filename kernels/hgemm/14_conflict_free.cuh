// hgemm_14_conflict_free: both tiles are swizzled, and no ldmatrix has a conflict.
//
// Change: in a row of sA, 4 groups of 8 elements trade places by bits 1 and 2 of the row, as two
//   rows fill the 32 banks; in a row of sB, 16 groups, in each half of the row by bits 0 to 2. A
//   16-byte copy still fills a row of each, in another order, which costs nothing: B's take 4
//   wavefronts a warp. A's take 8 with and without it, since of a row of A a tile has 64 bytes,
//   half a line of global memory, and two lines do not arrive in one wavefront.
// Limit: global memory's latency; the tiles are waited for at once.
// Source: article 000 hgemm_bcf.
// In the article: as in hgemm_13_large_tile.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"

namespace hgemm_14_conflict_free {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 2, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
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
  const uint32_t to_a_addr = smem_addr(sA + swizzle<BITS_A, SHIFT_A>(a_row * BK + a_col));
  const uint32_t to_b_addr = smem_addr(sB + swizzle<BITS_B, SHIFT_B>(b_row * BN + b_col));
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A, lane l names row
  // l % 16, in its left half for l < 16, else in its right one; of a 16x8 of B, row l % 16, where
  // lanes 16 to 31 are not asked.
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const int a_from = (m + lane_id % 16) * BK + lane_id / 16 * 8;
  const int b_from = lane_id % 16 * BN + n;
  const uint32_t sA_addr = smem_addr(sA + swizzle<BITS_A, SHIFT_A>(a_from));
  const uint32_t sB_addr = smem_addr(sB + swizzle<BITS_B, SHIFT_B>(b_from));
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
      // Rows 16 apart are swizzled alike: their distance is added. Columns, k_mma and wn * MMA_N,
      // are XORed like the bits of the row before them.
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], (sA_addr ^ k_mma * sizeof(T)) + wm * MMA_M * BK * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn], (sB_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BN * sizeof(T));
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

}  // namespace hgemm_14_conflict_free

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_14_conflict_free(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_14_conflict_free;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x32 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  static_assert(8 << (BITS_A + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS_B + SHIFT_B) <= MMA_K * BN, "16 rows of sB on, the swizzle is the same");
  return launch(kernel<T, TC>, dim3(g.M / BM * (g.N / BN)), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
