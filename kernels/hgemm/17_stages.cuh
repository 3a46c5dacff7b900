// hgemm_17_stages: STAGES - 1 tiles are on their way while one is multiplied.
//
// Change: STAGES buffers in a ring. Copies are waited for by groups, one a tile: when all but the
//   newest STAGES - 2 have arrived, this tile has. 3 stages take 48 KB, what a kernel may have
//   without asking; for more, the launcher asks. An SM of sm_90 has 227 KB for its blocks.
// Limit: shared memory: a tile of 32 k takes a block 384 wavefronts of ldmatrix and 192 of copies;
//   the tensor cores take 384 cycles for its products.
// Source: article 002 hgemm_k_stages.
// In the article: its copies stand in front of all ldmatrix of a tile ("hgemm 17, copies in
//   front"), with the hint .L2::128B; its strips are columns; its loop waits at the end, and the
//   last tiles are peeled.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"
#include "../common/store/write_back.cuh"

namespace hgemm_17_stages {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 2, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
constexpr int STAGES = 3;
constexpr int SMEM_BYTES = STAGES * BK * (BM + BN) * 2;
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  extern __shared__ __align__(128) unsigned char smem[];
  T* sA = reinterpret_cast<T*>(smem);    // the tiles of A,
  T* sB = sA + STAGES * BM * BK;         // then those of B,
  TC* sC = reinterpret_cast<TC*>(smem);  // and after them C

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

  float acc[WMITER][WNITER][4] = {};
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) copy_tiles(i * BK, i);
  int stage = 0, free_stage = STAGES - 1;
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [pipeline]
    cp_async_wait<STAGES - 2>();  // this thread's part of these tiles is in place
    __syncthreads();              // everyone's is; and everyone has read the tiles before
    const uint32_t sA_tile_addr = sA_addr + stage * BM * BK * sizeof(T);
    const uint32_t sB_tile_addr = sB_addr + stage * BK * BN * sizeof(T);
    const int fill = free_stage;
    free_stage = stage;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    // [/pipeline]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      // Rows 16 apart are swizzled alike: their distance is added. Columns, k_mma and wn * MMA_N,
      // are XORed like the bits of the row before them.
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], (sA_tile_addr ^ k_mma * sizeof(T)) + wm * MMA_M * BK * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn], (sB_tile_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BN * sizeof(T));
      // [/fragments]
      // Behind the first fragments, which the products wait for.
      if (k_mma == 0) copy_tiles(k_tile + (STAGES - 1) * BK, fill);
      mma_tiles<T>(acc, rA, rB);
    }
  }

  // [store]
  write_back<BM, BN, WM, WN, THREADS, SMEM_BYTES>(sC, C + (size_t)block_m * N + block_n, N, acc,
                                                  alpha, beta);
  // [/store]
}

}  // namespace hgemm_17_stages

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_17_stages(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_17_stages;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x32 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  static_assert(8 << (BITS_A + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS_B + SHIFT_B) <= MMA_K * BN, "16 rows of sB on, the swizzle is the same");
  static_assert(STAGES >= 2, "one to multiply, one to fill");
  // [attribute]
  const cudaError_t error =
      cudaFuncSetAttribute(kernel<T, TC>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  // [/attribute]
  return launch(kernel<T, TC>, dim3(g.M / BM * (g.N / BN)), dim3(THREADS), SMEM_BYTES, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
