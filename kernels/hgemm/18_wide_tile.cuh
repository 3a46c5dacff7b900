// hgemm_18_wide_tile: 128x256 of C a block, 64x64 a warp, and fragments one step ahead.
//
// Change: a warp of 64x64 reads 16 fragments' worth of shared memory for 32 products, one of 64x32
//   12 for 16. 64 k in a tile, so rows of A fill a line of 128 bytes, and a copy of them takes 4
//   wavefronts, not 8. ldmatrix.x4.trans brings two fragments of B. Fragments of the next 16 k are
//   loaded while these are multiplied, across the end of a tile, too; the one barrier of a tile
//   stands before its last 16 k. Products go column by column, down and up: the fragment of B
//   stays, and at the turn the one of A does.
// Limit: what the copies write to shared memory, beside ldmatrix. On the H200 a loop of ldmatrix
//   and mma.sync alone does 2,615 FLOP per clock and SM; with this step's copies, or with copies of
//   zeros that read nothing, about 2,410. Without its barriers this loop is as fast as with them.
// Source: beyond the articles; the shape of CUTLASS' multistage kernels.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/swizzle.cuh"
#include "../common/store/write_back.cuh"

namespace hgemm_18_wide_tile {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N, STEPS = BK / MMA_K;
constexpr int BITS = 3, SHIFT_A = 3, SHIFT_B = 5;
constexpr int STAGES = 4, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then one of B
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES;
constexpr int THREADS = 256;

__device__ __forceinline__ int after(int stage) {
  return stage == SMEM_BYTES - STAGE_BYTES ? 0 : stage + STAGE_BYTES;
}

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  extern __shared__ __align__(128) unsigned char smem[];
  T *sA = reinterpret_cast<T*>(smem), *sB = sA + BM * BK;  // in stage 0
  TC* sC = reinterpret_cast<TC*>(smem);                    // after the tiles of A and B

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  // [order]
  const int2 tile = tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  // [/order]

  // [map]
  // Copying: 8 threads hold 64 elements of a row, of A or of a quarter of B's columns.
  const int row = tid / 8, col = tid % 8 * 8;
  const T* gA = A + (size_t)(block_m + row) * K + col;
  const T* gB = B + (size_t)row * N + block_n + col;
  const uint32_t to_a_addr = smem_addr(sA + swizzle<BITS, SHIFT_A>(row * BK + col));
  const uint32_t to_b_addr = smem_addr(sB + swizzle<BITS, SHIFT_B>(row * BN + col));
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A or B, lane l names
  // row l % 16, in its left half for l < 16, else in its right one.
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const int a_from = (m + lane_id % 16) * BK + lane_id / 16 * 8;
  const int b_from = lane_id % 16 * BN + n + lane_id / 16 * 8;
  const uint32_t sA_addr = smem_addr(sA + swizzle<BITS, SHIFT_A>(a_from));
  uint32_t sB_addr[WNITER / 2];  // of each 16 columns: an XOR for each load would take longer
#pragma unroll
  for (int j = 0; j < WNITER / 2; ++j)
    sB_addr[j] = smem_addr(sB + swizzle<BITS, SHIFT_B>(b_from + j * 16));
  // [/map]

  // [load]
  auto copy_tiles = [&](int k_tile, int stage) {
    if (k_tile < K) {
#pragma unroll
      for (int i = 0; i < BM; i += THREADS / 8)
        cp_async_cg(to_a_addr + stage + i * BK * sizeof(T), gA + (size_t)i * K);
#pragma unroll
      for (int i = 0; i < BK; i += THREADS / 8)
#pragma unroll
        for (int j = 0; j < BN; j += 64)
          cp_async_cg(to_b_addr + stage + (i * BN + j) * sizeof(T), gB + (size_t)i * N + j);
    }
    cp_async_commit();  // one group a tile, an empty one after the last
    gA += BK, gB += (size_t)BK * N;
  };
  // [/load]

  // [fragments]
  // Two sets: step % 2 is multiplied, the other is loaded. rB[.][j] is two fragments side by side.
  uint32_t rA[2][WMITER][4], rB[2][WNITER / 2][4];
  auto load_fragments = [&](int step, int stage) {
#pragma unroll
    for (int j = 0; j < WNITER / 2; ++j)
      ldmatrix_x4_trans(rB[step % 2][j], sB_addr[j] + stage + step * MMA_K * BN * sizeof(T));
    const uint32_t a_addr = (sA_addr + stage) ^ step * MMA_K * sizeof(T);
#pragma unroll
    for (int i = 0; i < WMITER; ++i)
      ldmatrix_x4(rA[step % 2][i], a_addr + i * MMA_M * BK * sizeof(T));
  };
  // [/fragments]

  // [products]
  float acc[WMITER][WNITER][4] = {};
  auto multiply = [&](int step) {
#pragma unroll
    for (int j = 0; j < WNITER; ++j)
#pragma unroll
      for (int turn = 0; turn < WMITER; ++turn) {
        const int i = j % 2 ? WMITER - 1 - turn : turn;
        const uint32_t* b = &rB[step % 2][j / 2][j % 2 * 2];
        const uint32_t fragment[2] = {b[0], b[1]};
        mma_m16n8k16<T>(acc[i][j], rA[step % 2][i], fragment);
      }
  };
  // [/products]

  // [pipeline]
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) copy_tiles(i * BK, i * STAGE_BYTES);
  cp_async_wait<STAGES - 2>();
  __syncthreads();
  int stage = 0, free_stage = SMEM_BYTES - STAGE_BYTES;  // as offsets
  if (K > 0) load_fragments(0, 0);
#pragma unroll 1
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      if (step == STEPS - 1) {
        cp_async_wait<STAGES - 2>();  // this thread's part of the next tiles is in place
        __syncthreads();              // everyone's is; and everyone has read the present ones
        stage = k_tile + BK == K ? 0 : after(stage);
      }
      load_fragments((step + 1) % STEPS, stage);  // behind the last tile: stage 0, and not used
      if (step == 0) {
        copy_tiles(k_tile + (STAGES - 1) * BK, free_stage);
        free_stage = after(free_stage);
      }
      multiply(step);
    }
  }
  // [/pipeline]

  // [store]
  write_back<BM, BN, WM, WN, THREADS, SMEM_BYTES>(sC, C + (size_t)block_m * N + block_n, N, acc,
                                                  alpha, beta);
  // [/store]
}

}  // namespace hgemm_18_wide_tile

// M is a multiple of 128, N of 256, K of 64; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_18_wide_tile(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_18_wide_tile;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x64 of the tile");
  static_assert(BK == 64 && BN % 64 == 0 && THREADS == 256, "8 threads copy 64 elements");
  static_assert(8 << (BITS + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS + SHIFT_B) <= MMA_K * BN, "16 rows of sB on, the swizzle is the same");
  static_assert(STAGES >= 3 && STEPS % 2 == 0, "fragments alternate between two sets");
  // [attribute]
  const cudaError_t error =
      cudaFuncSetAttribute(kernel<T, TC>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  // [/attribute]
  return launch(kernel<T, TC>, dim3(g.M / BM * (g.N / BN)), dim3(THREADS), SMEM_BYTES, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
