// sgemm_07_coalesced_c: a half-warp writes 256 neighbouring bytes of C.
//
// Change: a lane's 8 columns are two groups of four, 64 apart, and a warp owns 16 rows x 128
//   columns. 16 lanes now hold 64 neighbours of a row: a store fills its sectors, 16 of them, where
//   it touched 32 and filled each of them half.
// Loads per k stay free of conflicts, 12 wavefronts as before. A: one address in each half-warp, 32
//   bytes apart (the XOR moves both alike), 2 wavefronts. B: 256 neighbouring bytes, the same in
//   both half-warps, 4 wavefronts.
// Limit: the FMA pipe and the latency around the two barriers. C is written once, so little is won.
// Source: article 003 sgemm_at_bcf_swizzling_rw.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_07_coalesced_c {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 16, WN = 128;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = 256;

// [swizzle]
// Column of sA in which row k keeps element m: bits 2-3 of k move bits 3-4 of m.
__device__ __forceinline__ int swizzle(int k, int m) { return m ^ (k / 4 * 8); }
// [/swizzle]

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[BK][BM];  // transposed, swizzled
  __shared__ __align__(16) float sB[BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: 4 threads hold a row of A (16 floats), 32 threads a row of B (128 floats).
  const int a_row = tid / 4, a_col = tid % 4 * 4;
  const int b_row = tid / 32, b_col = tid % 32 * 4;
  // Computing: lane (lane_id / 16, lane_id % 16) has rows m to m + 7, columns n to n + 3 and
  // n + 64 to n + 67.
  const int m = warp_id * WM + lane_id / 16 * TM;
  const int n = lane_id % 16 * 4;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[TM][TN] = {};
  for (int k_tile = 0; k_tile < K; k_tile += BK, gA += BK, gB += (size_t)BK * N) {
    // [load]
#pragma unroll
    for (int i = 0; i < BM; i += 64) {
      const float4 a = load4(gA + (size_t)i * K);
      sA[a_col + 0][swizzle(a_col + 0, a_row + i)] = a.x;
      sA[a_col + 1][swizzle(a_col + 1, a_row + i)] = a.y;
      sA[a_col + 2][swizzle(a_col + 2, a_row + i)] = a.z;
      sA[a_col + 3][swizzle(a_col + 3, a_row + i)] = a.w;
    }
#pragma unroll
    for (int i = 0; i < BK; i += 8) store4(&sB[b_row + i][b_col], load4(gB + (size_t)i * N));
    __syncthreads();  // both tiles are in place

    // [/load]

    // [dot]
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      unpack4(&rA[0], load4(&sA[k][swizzle(k, m)]));
      unpack4(&rA[4], load4(&sA[k][swizzle(k, m) + 4]));
      unpack4(&rB[0], load4(&sB[k][n]));
      unpack4(&rB[4], load4(&sB[k][n + WN / 2]));
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rA[i] * rB[j];
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
  }

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    write_c4(gC + (size_t)i * N, &acc[i][0], alpha, beta);
    write_c4(gC + (size_t)i * N + WN / 2, &acc[i][4], alpha, beta);
  }
  // [/store]
}

}  // namespace sgemm_07_coalesced_c

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_07_coalesced_c(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_07_coalesced_c;
  static_assert(WN == BN && WM == 2 * TM, "a warp is a strip of the tile: 2 x 16 lanes");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 4 * 2 == BM * BK && THREADS * 4 * 2 == BK * BN, "two copies a thread");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
