// sgemm_08_double_buffer: the next tile is on its way while the products of this one run.
//
// Change: two buffers of each shared tile. A thread loads its 16 values of the next tile into
//   registers, does the products of the current one, and then stores the registers to the other
//   buffer. One barrier a tile is enough: what is overwritten was read before the last barrier.
// Price: 16 more registers live through the products, and 32 KB of shared memory instead of 16. To
//   stay within 128 registers, ptxas (13.0) issues the loads after two thirds of the products.
// Limit: the FMA pipe. Two blocks on an SM had hidden much of the wait for global memory before.
// Source: article 003 sgemm_at_bcf_swizzling_dbf_rw.
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_08_double_buffer {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 16, WN = 128;
constexpr int TM = 8, TN = 8;
constexpr int STAGES = 2;
constexpr int THREADS = 256;

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
  // Computing: lane (lane_id / 16, lane_id % 16) has rows m to m + 7, columns n to n + 3 and
  // n + 64 to n + 67.
  const int m = warp_id * WM + lane_id / 16 * TM;
  const int n = lane_id % 16 * 4;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  // [load]
  float4 next_a[2], next_b[2];
  auto load_next = [&] {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      next_a[i] = load4(gA + (size_t)i * 64 * K);
      next_b[i] = load4(gB + (size_t)i * 8 * N);
    }
    gA += BK;
    gB += (size_t)BK * N;
  };
  // A thread's four k have one k / 4, and 64 is above the bits that the XOR changes.
  const int a_column = swizzle(a_col, a_row);
  auto store_next = [&](int stage) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sA[stage][a_col + 0][a_column + i * 64] = next_a[i].x;
      sA[stage][a_col + 1][a_column + i * 64] = next_a[i].y;
      sA[stage][a_col + 2][a_column + i * 64] = next_a[i].z;
      sA[stage][a_col + 3][a_column + i * 64] = next_a[i].w;
      store4(&sB[stage][b_row + i * 8][b_col], next_b[i]);
    }
  };
  // [/load]

  float acc[TM][TN] = {};
  auto multiply = [&](int stage) {
  // [dot]
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      unpack4(&rA[0], load4(&sA[stage][k][swizzle(k, m)]));
      unpack4(&rA[4], load4(&sA[stage][k][swizzle(k, m) + 4]));
      unpack4(&rB[0], load4(&sB[stage][k][n]));
      unpack4(&rB[4], load4(&sB[stage][k][n + WN / 2]));
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
  for (int i = 0; i < TM; ++i) {
    write_c4(gC + (size_t)i * N, &acc[i][0], alpha, beta);
    write_c4(gC + (size_t)i * N + WN / 2, &acc[i][4], alpha, beta);
  }
  // [/store]
}

}  // namespace sgemm_08_double_buffer

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_08_double_buffer(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_08_double_buffer;
  static_assert(WN == BN && WM == 2 * TM, "a warp is a strip of the tile: 2 x 16 lanes");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x8 of the tile");
  static_assert(THREADS * 4 * 2 == BM * BK && THREADS * 4 * 2 == BK * BN, "two copies a thread");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
