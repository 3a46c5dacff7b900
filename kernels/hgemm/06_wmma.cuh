// hgemm_06_wmma: the tensor cores multiply, through CUDA's WMMA functions.
//
// Change: a warp has 64x64 of C as 4x4 fragments of 16x16, which its 32 lanes hold together. For 16
//   k it loads 4 fragments of A and 4 of B, and each mma_sync multiplies two of them and adds. No
//   value is converted: the tensor core takes 16 bits and adds up in fp32.
// Row pitch: WMMA lets rows be any multiple of 16 bytes apart, but cannot swizzle. With 8 elements
//   behind each row, the 8 rows that are read together are in different banks: 4 wavefronts a
//   fragment; without them 16 (A) and 32 (B).
// nvcc 13 loads a fragment of __half by one ldmatrix. For __nv_bfloat16 it makes four 4-byte loads
//   with generic addresses, and for B four transpositions: the same wavefronts, more instructions.
// Limit: waiting. A block copies, then multiplies; meanwhile only the SM's other block computes.
// Source: article 001 kernel 09.
// In the article: it does not pad, loads B again for every fragment of A, reads and writes C
//   as fragments, and its author's warps are 32x128: the experiment "hgemm 06, as published".
#pragma once
#include <mma.h>

#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_06_wmma {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 16, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int PAD = 8;  // elements behind each row of a tile
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  using namespace nvcuda;
  __shared__ __align__(32) T sA[BM][BK + PAD];
  __shared__ __align__(32) T sB[BK][BN + PAD];
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

  wmma::fragment<wmma::accumulator, MMA_M, MMA_N, MMA_K, float> acc[WMITER][WNITER];
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn) wmma::fill_fragment(acc[wm][wn], 0.0f);
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += THREADS * 8 / BK)
      store8(&sA[a_row + i][a_col], load8(gA + (size_t)i * K));
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 8 / BN)
      store8(&sB[b_row + i][b_col], load8(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      wmma::fragment<wmma::matrix_a, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rA[WMITER];
      wmma::fragment<wmma::matrix_b, MMA_M, MMA_N, MMA_K, T, wmma::row_major> rB[WNITER];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        wmma::load_matrix_sync(rA[wm], &sA[m + wm * MMA_M][k_mma], BK + PAD);
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        wmma::load_matrix_sync(rB[wn], &sB[k_mma][n + wn * MMA_N], BN + PAD);
      // [/fragments]
      // [mma]
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
          wmma::mma_sync(acc[wm][wn], rA[wm], rB[wn], acc[wm][wn]);
      // [/mma]
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
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

}  // namespace hgemm_06_wmma

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_06_wmma(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_06_wmma;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole fragments");
  static_assert((BK + PAD) % 16 == 8 && (BN + PAD) % 16 == 8, "an odd number of 16 bytes a row");
  static_assert(BK == 32 && THREADS * 8 % BN == 0, "4 threads a row of A, whole rows of B a pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
