// hgemm_10_mma: mma.sync and ldmatrix in place of WMMA, so that the code says who holds what.
//
// Change: a warp computes its 64x64 of C as 4x8 products of 16x8x16. ldmatrix brings a 16x16 of A
//   (.x4: four 8x8 matrices) and a 16x8 of B (.x2.trans: two, transposed on the way, since the
//   instruction wants B by columns). As it is known which sums a lane has, two neighbours of C are
//   one access, and C needs no way through shared memory.
// Limit: bank conflicts. A row of sA is 32 bytes: of the 8 rows of a matrix, rows 4 apart are in
//   the same banks, 8 wavefronts for .x4 instead of 4. A row of sB is 256 bytes: all 8 rows are in
//   the same banks, 16 wavefronts for .x2 instead of 2.
// Source: article 001 kernel 13.
// In the article: its registers suggest that B is loaded again for every product: the
//   experiment "hgemm 10, B loaded again".
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/half.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_10_mma {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(128) T sA[BM * BK];
  __shared__ __align__(128) T sB[BK * BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

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
      // [mma]
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn) mma_m16n8k16<T>(acc[wm][wn], rA[wm], rB[wn]);
      // [/mma]
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
  }

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

}  // namespace hgemm_10_mma

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_10_mma(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_10_mma;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x64 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
