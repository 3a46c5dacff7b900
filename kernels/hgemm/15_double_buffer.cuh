// hgemm_15_double_buffer: the next tiles arrive while these are multiplied.
//
// Change: two buffers, and one barrier a tile instead of two. It says that these tiles are in place
//   and that everyone has read the others, whose buffer the next copies may fill.
// Limit: shared memory. A tile of 32 k takes a block 384 wavefronts of ldmatrix and 192 of copies;
//   the tensor cores take 384 cycles for its products.
// Source: article 000 hgemm_bcf_dbf.
// In the article: as in hgemm_13_large_tile.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"

namespace hgemm_15_double_buffer {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 2, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
constexpr int STAGES = 2;
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(128) T sA[STAGES * BM * BK];
  __shared__ __align__(128) T sB[STAGES * BK * BN];

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
    gA += BK, gB += (size_t)BK * N;
  };
  // [/load]

  float acc[WMITER][WNITER][4] = {};
  int stage = 0;
  copy_tiles(0, stage);
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [pipeline]
    cp_async_wait_all();  // this thread's part of both tiles is in place
    __syncthreads();      // everyone's is; and everyone has read the other buffer
    copy_tiles(k_tile + BK, stage ^ 1);
    const uint32_t sA_tile_addr = sA_addr + stage * BM * BK * sizeof(T);
    const uint32_t sB_tile_addr = sB_addr + stage * BK * BN * sizeof(T);
    stage ^= 1;
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
      mma_tiles<T>(acc, rA, rB);
    }
  }

  // [store]
  TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  write_tiles(gC, N, acc, lane_id, alpha, beta);
  // [/store]
}

}  // namespace hgemm_15_double_buffer

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_15_double_buffer(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_15_double_buffer;
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
