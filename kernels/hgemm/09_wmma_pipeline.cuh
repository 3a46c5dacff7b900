// hgemm_09_wmma_pipeline: copies, fragments and products of three tiles at once.
//
// Change: while tile t is multiplied, the fragments of t + 1 come from shared memory, and the copy
//   of t + 2 is on its way. A warp holds the fragments of a whole tile. When the products of one
//   k_mma are issued, its registers take the fragments of the next tile, and meanwhile the other
//   k_mma is multiplied. One set of fragments is enough, and so are two buffers: a tile that is in
//   registers needs no buffer.
// The one barrier stands behind the first products of t. It says that t + 1 is in place, and that
//   everyone has t in registers.
// Limit: waits for fragments. A tile takes 448 wavefronts of shared memory, 256 for fragments and
//   192 for copies, well below half of its time.
// Source: article 001 kernel 12.
// In the article: as in hgemm_07_wmma_async; it loads and multiplies whole tiles and shows no
// waits; its
//   author's code has two barriers a tile and waits behind the products: "hgemm 09, whole tiles",
//   and, without padding, "hgemm 09, as published".
#pragma once
#include <mma.h>

#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_09_wmma_pipeline {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 16, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int PAD = 8;  // elements behind each row of a tile
constexpr int STAGES = 2;
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  using namespace nvcuda;
  __shared__ __align__(32) T sA[STAGES][BM][BK + PAD];
  __shared__ __align__(32) T sB[STAGES][BK][BN + PAD];
  __shared__ __align__(32) float sC[THREADS / 32][MMA_M][MMA_N];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 8 threads hold a row of A, BN / 8 threads a row of B. Eight lanes write at once:
  // rows r and r + 4 of sA, which share no bank.
  const int a_row = tid / 32 * 8 + tid / 4 % 2 * 4 + tid / 8 % 4, a_col = tid % (BK / 8) * 8;
  const int b_row = tid / (BN / 8), b_col = tid % (BN / 8) * 8;
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)).
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const T* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const T* gB = B + (size_t)b_row * N + block_n + b_col;
  TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  // [load]
  const int tiles = K / BK;
  auto copy_tile = [&](int tile) {
    if (tile >= tiles) return;
    const int stage = tile % STAGES;
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * 8 / BK)
      cp_async_ca<16>(smem_addr(&sA[stage][a_row + i][a_col]), gA + (size_t)i * K + tile * BK);
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 8 / BN)
      cp_async_ca<16>(smem_addr(&sB[stage][b_row + i][b_col]), gB + (size_t)(tile * BK + i) * N);
  };
  // [/load]

  wmma::fragment<wmma::accumulator, MMA_M, MMA_N, MMA_K, float> acc[WMITER][WNITER];
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn) wmma::fill_fragment(acc[wm][wn], 0.0f);

  // [fragments]
  // Of a whole tile. k_mma counts the fragments along k.
  wmma::fragment<wmma::matrix_a, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rA[BK / MMA_K][WMITER];
  wmma::fragment<wmma::matrix_b, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rB[BK / MMA_K][WNITER];
  auto load_fragments = [&](int stage, int k_mma) {
#pragma unroll
    for (int wm = 0; wm < WMITER; ++wm)
      wmma::load_matrix_sync(rA[k_mma][wm], &sA[stage][m + wm * MMA_M][k_mma * MMA_K], BK + PAD);
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn)
      wmma::load_matrix_sync(rB[k_mma][wn], &sB[stage][k_mma * MMA_K][n + wn * MMA_N], BN + PAD);
  };
  // [/fragments]

  // [pipeline]
  copy_tile(0);
  cp_async_wait_all();
  __syncthreads();  // tile 0 is in place
  copy_tile(1);
  if (tiles > 0) {
#pragma unroll
    for (int k_mma = 0; k_mma < BK / MMA_K; ++k_mma) load_fragments(0, k_mma);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    const int next = min(tile + 1, tiles - 1) % STAGES;  // behind the last tile: itself, not used
#pragma unroll
    for (int k_mma = 0; k_mma < BK / MMA_K; ++k_mma) {
      // [mma]
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
          wmma::mma_sync(acc[wm][wn], rA[k_mma][wm], rB[k_mma][wn], acc[wm][wn]);
      // [/mma]
      // Without a condition the compiler would wait before it has issued the products.
      if (k_mma == 0 && tile + 1 < tiles) {
        cp_async_wait_all();  // this thread's part of the next tile has arrived
        __syncthreads();      // everyone's has, and everyone has this tile in registers
        copy_tile(tile + 2);  // into this tile's buffer
      }
      load_fragments(next, k_mma);  // in place of those that have been multiplied
    }
  }
  // [/pipeline]

  // [store]
  // The API does not say which lane has which element. Each fragment goes through shared memory,
  // and four lanes write a row of it.
  const int c_row = lane_id / (MMA_N / 4), c_col = lane_id % (MMA_N / 4) * 4;
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn) {
      wmma::store_matrix_sync(&sC[warp_id][0][0], acc[wm][wn], MMA_N, wmma::mem_row_major);
      __syncwarp();  // the fragment is there
#pragma unroll
      for (int i = 0; i < MMA_M; i += 32 * 4 / MMA_N) {
        float rC[4];
        unpack4(rC, load4(&sC[warp_id][i + c_row][c_col]));
        write_c4(gC + (size_t)(wm * MMA_M + i + c_row) * N + wn * MMA_N + c_col, rC, alpha, beta);
      }
      __syncwarp();  // every lane has read before the next one overwrites
    }
  // [/store]
}

}  // namespace hgemm_09_wmma_pipeline

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_09_wmma_pipeline(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_09_wmma_pipeline;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole fragments");
  static_assert((BK + PAD) % 16 == 8 && (BN + PAD) % 16 == 8, "an odd number of 16 bytes a row");
  static_assert(BK == 32 && THREADS * 8 % BN == 0, "4 threads a row of A, whole rows of B a pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
