// hgemm_08_wmma_double_buffer: the next tile is on its way while this one is multiplied.
//
// Change: two buffers. Tile t + 1 is copied into one, tile t multiplied from the other. One barrier
//   a tile is enough: it says that tile t is in place, and that everyone is done with tile t - 1,
//   whose buffer the next copy fills.
// Limit: waiting for fragments. Behind the barrier every warp loads from shared memory first, and
//   has nothing to multiply.
// Source: article 001 kernel 11.
// In the article: as in hgemm_07_wmma_async; and it has two barriers a tile and starts the copy
// before
//   the wait: "hgemm 08, as published".
#pragma once
#include <mma.h>

#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_08_wmma_double_buffer {

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
  copy_tile(0);
  for (int tile = 0; tile < tiles; ++tile) {
    // [pipeline]
    cp_async_wait_all();  // this thread's part of the tile has arrived
    __syncthreads();      // everyone's has, and everyone is done with the tile before
    copy_tile(tile + 1);  // into that one's buffer, on its way during the products
    const int stage = tile % STAGES;
    // [/pipeline]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      wmma::fragment<wmma::matrix_a, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rA[WMITER];
      wmma::fragment<wmma::matrix_b, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rB[WNITER];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        wmma::load_matrix_sync(rA[wm], &sA[stage][m + wm * MMA_M][k_mma], BK + PAD);
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        wmma::load_matrix_sync(rB[wn], &sB[stage][k_mma][n + wn * MMA_N], BN + PAD);
      // [/fragments]
      // [mma]
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
          wmma::mma_sync(acc[wm][wn], rA[wm], rB[wn], acc[wm][wn]);
      // [/mma]
    }
  }

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

}  // namespace hgemm_08_wmma_double_buffer

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_08_wmma_double_buffer(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_08_wmma_double_buffer;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole fragments");
  static_assert((BK + PAD) % 16 == 8 && (BN + PAD) % 16 == 8, "an odd number of 16 bytes a row");
  static_assert(BK == 32 && THREADS * 8 % BN == 0, "4 threads a row of A, whole rows of B a pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
