// sgemm_15_large_thread_tile: 8x16 elements of C per thread, 128 threads a block.
//
// Change: a thread does 128 FMAs with 24 values that it reads, 5.3 FMAs per value in place of 4. A
//   warp owns 64x64: its lanes stand 8 x 4, and a lane's 8 rows are 2 runs of 4, its 16 columns 4
//   runs of 4, so that neighbouring lanes read neighbouring float4.
// Price: 128 registers for the sums alone. Two blocks on an SM leave 255 a thread, and 8 warps.
// Limit: the FMA pipe, fed by two warps a scheduler; what the register file can deliver to it.
// Source: beyond the articles.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_15_large_thread_tile {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int LM = 8, LN = 4;  // the lanes of a warp: 8 rows x 4 columns
constexpr int STAGES = 2;
constexpr int THREADS = 128;

// [swizzle]
// Column of sA in which row k keeps element m: bits 2-3 of k move bits 3-4 of m.
__device__ __forceinline__ int swizzle(int k, int m) { return m ^ (k / 4 * 8); }
// [/swizzle]

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[STAGES][BK][BM];  // transposed, swizzled
  __shared__ __align__(16) float sB[STAGES][BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: 4 threads hold a row of A (16 floats), 32 threads a row of B (128 floats).
  const int a_row = tid / 4, a_col = tid % 4 * 4;
  const int b_row = tid / 32, b_col = tid % 32 * 4;
  // Computing: warp (warp_id / 2, warp_id % 2), lane (lane_id / 4, lane_id % 4) has rows
  // m + 32 i to m + 32 i + 3 and columns n + 16 j to n + 16 j + 3.
  const int m = warp_id / (BN / WN) * WM + lane_id / LN * 4;
  const int n = warp_id % (BN / WN) * WN + lane_id % LN * 4;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  // [load]
  float4 next_a[4], next_b[4];
  auto load_next = [&] {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      next_a[i] = load4(gA + (size_t)i * 32 * K);
      next_b[i] = load4(gB + (size_t)i * 4 * N);
    }
    gA += BK;
    gB += (size_t)BK * N;
  };
  // A thread's four k have one k / 4, and 32 is above the bits that the XOR changes.
  const int a_column = swizzle(a_col, a_row);
  auto store_next = [&](int stage) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sA[stage][a_col + 0][a_column + i * 32] = next_a[i].x;
      sA[stage][a_col + 1][a_column + i * 32] = next_a[i].y;
      sA[stage][a_col + 2][a_column + i * 32] = next_a[i].z;
      sA[stage][a_col + 3][a_column + i * 32] = next_a[i].w;
      store4(&sB[stage][b_row + i * 4][b_col], next_b[i]);
    }
  };
  // [/load]

  float acc[TM][TN] = {};
  auto multiply = [&](int stage) {
  // [dot]
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) unpack4(&rA[i], load4(&sA[stage][k][swizzle(k, m) + i * LM]));
#pragma unroll
      for (int j = 0; j < TN; j += 4) unpack4(&rB[j], load4(&sB[stage][k][n + j * LN]));
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rA[i] * rB[j];
    }
    // [/dot]
  };

  // [pipeline]
  if (K > 0) {  // there is a tile 0
    load_next();
    store_next(0);
    __syncthreads();  // it is in place
    int stage = 0;
    for (int k_tile = BK; k_tile < K; k_tile += BK) {
      load_next();  // on its way during the products
      multiply(stage);
      store_next(stage ^ 1);  // which everyone had read before the last barrier
      __syncthreads();        // the next tile is in place, and everyone has read this one
      stage ^= 1;
    }
    multiply(stage);  // the last tile
  }
  // [/pipeline]

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      write_c4(gC + (size_t)(i / 4 * (4 * LM) + i % 4) * N + j * LN, &acc[i][j], alpha, beta);
  // [/store]
}

}  // namespace sgemm_15_large_thread_tile

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_15_large_thread_tile(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_15_large_thread_tile;
  static_assert(LM * LN == 32 && LM * TM == WM && LN * TN == WN, "32 lanes fill a warp's tile");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x16 of the tile");
  static_assert(THREADS * 4 * 4 == BM * BK && THREADS * 4 * 4 == BK * BN, "four copies a thread");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
