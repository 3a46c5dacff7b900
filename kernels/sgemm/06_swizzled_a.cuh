// sgemm_06_swizzled_a: the columns of the transposed A are permuted, and the conflicts are gone.
//
// Change: element (k, m) of A stands in column m ^ (k / 4 * 8) of row k. A warp's store covers
//   k = 0, 4, 8, 12 and eight neighbouring m: the XOR sends the four k to columns 0, 8, 16, 24, so
//   the 32 lanes fill the 32 banks. A fragment starts at a multiple of 8 and the XOR changes only
//   bits 3 and 4, so it stays 32 neighbouring bytes.
// Limit: the FMA pipe and the latency around the two barriers; no shared request has a conflict.
// Source: article 003 sgemm_at_bcf_swizzling.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_06_swizzled_a {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 32;
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
      unpack4(&rB[4], load4(&sB[k][n + 4]));
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
    write_c4(gC + (size_t)i * N + 4, &acc[i][4], alpha, beta);
  }
  // [/store]
}

}  // namespace sgemm_06_swizzled_a

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_06_swizzled_a(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_06_swizzled_a;
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 4 * 2 == BM * BK && THREADS * 4 * 2 == BK * BN, "two copies a thread");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
