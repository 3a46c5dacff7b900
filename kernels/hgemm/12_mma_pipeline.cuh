// hgemm_12_mma_pipeline: copies, fragments and products of different tiles at the same time.
//
// Change: while tile t is multiplied, from registers, the fragments of tile t + 1 follow into those
//   that become free, and the copies of the tiles after it are on their way. As tile t is no longer
//   needed in shared memory then, the copies of tile t + STAGES may fill its buffer: one barrier a
//   tile. The article has two buffers and counts the registers as third stage; with three, a copy
//   has the time of two tiles.
// Limit: global memory, by what warps wait for; then shared memory. A tile of 16 k takes a block
//   128 wavefronts of ldmatrix and 160 of copies (a row of A's tile is a quarter of a line, and
//   each takes a wavefront); the tensor cores take 192 cycles for its products.
// Source: article 001 kernel 15.
// In the article: two buffers, and in its author's code two barriers and a wait behind the
//   products ("hgemm 12, wait behind the products"); swizzled as its kernel 14 ("hgemm 12, as
//   published").
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/half.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"

namespace hgemm_12_mma_pipeline {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 1, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
constexpr int STAGES = 3;
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(128) T sA[STAGES * BM * BK];
  __shared__ __align__(128) T sB[STAGES * BK * BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

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

  // [load]
  auto copy_tiles = [&](int k_tile, int stage) {
    if (k_tile < K) {
#pragma unroll
      for (int i = 0; i < BM; i += THREADS * 8 / BK)
        cp_async_cg(to_a_addr + (stage * BM + i) * BK * sizeof(T), gA + (size_t)i * K);
#pragma unroll
      for (int i = 0; i < BK; i += THREADS * 8 / BN)
        cp_async_cg(to_b_addr + (stage * BK + i) * BN * sizeof(T), gB + (size_t)i * N);
    }
    cp_async_commit();  // one group a tile, an empty one after the last
    gA += BK, gB += (size_t)BK * N;
  };
  // [/load]
  // [fragments]
  uint32_t rA[WMITER][4], rB[WNITER][2];
  auto load_fragments = [&](int stage) {
    const uint32_t sA_tile_addr = sA_addr + stage * BM * BK * sizeof(T);
    const uint32_t sB_tile_addr = sB_addr + stage * BK * BN * sizeof(T);
#pragma unroll
    for (int wm = 0; wm < WMITER; ++wm)
      ldmatrix_x4(rA[wm], sA_tile_addr + wm * MMA_M * BK * sizeof(T));
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn)
      ldmatrix_x2_trans(rB[wn], sB_tile_addr ^ wn * MMA_N * sizeof(T));
  };
  // [/fragments]

  float acc[WMITER][WNITER][4] = {};
  // [pipeline]
#pragma unroll
  for (int i = 0; i < STAGES; ++i) copy_tiles(i * BK, i);
  cp_async_wait<STAGES - 1>();  // this thread's part of tile 0 is in place
  __syncthreads();              // everyone's is
  if (K > 0) load_fragments(0);
  int stage = 0;
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = BK; k_tile < K; k_tile += BK) {
    cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
    __syncthreads();              // everyone's is; and everyone has the fragments of these
    copy_tiles(k_tile + (STAGES - 1) * BK, stage);
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    mma_tiles<T>(acc, rA, rB);
    load_fragments(stage);
  }
  if (K > 0) mma_tiles<T>(acc, rA, rB);
  // [/pipeline]

  // [store]
  // Of a 16x8 of C, lane l holds columns l % 4 * 2 and the next, of row l / 4 and of the row 8 on.
  TC* gC = C + (size_t)(block_m + m + lane_id / 4) * N + block_n + n + lane_id % 4 * 2;
#pragma unroll
  for (int i = 0; i < WM; i += 8)
#pragma unroll
    for (int j = 0; j < WN; j += 8) {
      const float* sums = &acc[i / 16][j / 8][i % 16 / 4];
      write_c2(gC + (size_t)i * N + j, make_float2(sums[0], sums[1]), alpha, beta);
    }
  // [/store]
}

}  // namespace hgemm_12_mma_pipeline

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_12_mma_pipeline(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_12_mma_pipeline;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x64 of the tile");
  static_assert(BK == MMA_K, "one set of fragments a tile");
  static_assert(STAGES >= 2, "one to read, one to fill");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  static_assert(8 << (BITS_A + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS_B + SHIFT_B) <= THREADS * 8, "a copy of sB on, the swizzle is the same");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
