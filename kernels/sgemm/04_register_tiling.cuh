// sgemm_04_register_tiling: 8x8 elements of C per thread, with loads and stores of 16 bytes.
//
// Change: a thread's 8 columns are neighbours, and it reads four of them, or four k of a row of A,
// in
//   one load: a request for 16 FMAs instead of 4. Copies and stores of C move 16 bytes, too. As in
//   its parent 16 values are read for 64 FMAs.
// Warps: 2 rows x 4 columns of warps, 64x32 of C each; lanes 8 rows x 4 columns, 8x8 each.
// Registers: 2 blocks on an SM leave 128 a thread; the second argument of __launch_bounds__ asks
//   the compiler to stay within them.
// Limit: shared-memory wavefronts. A lies along k, so the 8 rows that one request reads are
//   8 * 64 = 512 bytes apart and meet in the same four banks: 8 wavefronts where 2 would do.
// Source: article 003 sgemm_tiling. Departs: four k of A in one load, written out, as the compiler
//   merges the article's; two blocks on an SM, for which the loop is unrolled by 2. The article's
//   text, unrolled whole and without such a bound, takes 151 registers, and one block fits.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_04_register_tiling {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 32;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BM][BK];
  __shared__ __align__(16) float sB[BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: 4 threads hold a row of A (16 floats), 32 threads a row of B (128 floats).
  const int a_row = tid / 4, a_col = tid % 4 * 4;
  const int b_row = tid / 32, b_col = tid % 32 * 4;
  // Computing: warp (warp_id / 4, warp_id % 4), lane (lane_id / 4, lane_id % 4).
  const int m = warp_id / 4 * WM + lane_id / 4 * TM;
  const int n = warp_id % 4 * WN + lane_id % 4 * TN;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += 64) store4(&sA[a_row + i][a_col], load4(gA + (size_t)i * K));
#pragma unroll
    for (int i = 0; i < BK; i += 8) store4(&sB[b_row + i][b_col], load4(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
#pragma unroll 2  // all four at once would keep more of A than 128 registers hold
    for (int k4 = 0; k4 < BK; k4 += 4) {
      float rA[TM][4];  // 8 rows, four k
#pragma unroll
      for (int i = 0; i < TM; ++i) unpack4(rA[i], load4(&sA[m + i][k4]));
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float rB[TN];
        unpack4(&rB[0], load4(&sB[k4 + k][n]));
        unpack4(&rB[4], load4(&sB[k4 + k][n + 4]));
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) acc[i][j] += rA[i][k] * rB[j];
      }
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    write_c4(gC + (size_t)i * N, &acc[i][0], alpha, beta);
    write_c4(gC + (size_t)i * N + 4, &acc[i][4], alpha, beta);
  }
  // [/store]
}

}  // namespace sgemm_04_register_tiling

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_04_register_tiling(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_04_register_tiling;
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 4 * 2 == BM * BK && THREADS * 4 * 2 == BK * BN, "two copies a thread");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
