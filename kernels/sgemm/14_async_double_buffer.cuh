// sgemm_14_async_double_buffer: cp.async fills one buffer while the products read the other.
//
// Change: two buffers 16 deep instead of one of 32, in the same shared memory. cp.async copies 16
//   bytes from global to shared memory without a register in between, and the thread goes on. What
//   it copied for one tile is a group, and it waits for all groups but the newest.
// A is not transposed: 16 bytes keep their order on the way. So a k takes 40 wavefronts as before.
//   A row of A's tile is half a 128-byte line of global memory: 8 wavefronts a copy instead of 4.
// Limit: shared-memory wavefronts: 160 cycles a block and k, for 128 cycles of FMAs. The wait for
//   global memory is behind them.
// Source: article 001 kernel 08. Departs: B in 16-byte loads, written out; behind the last tile an
//   empty group of copies.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"

namespace sgemm_14_async_double_buffer {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 32, WN = 128;
constexpr int WMITER = 2;
constexpr int WNITER = 2;
constexpr int TM = 8;
constexpr int TN = 4;
constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
constexpr int STAGES = 2;
constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS, 3)
    kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[STAGES][BM][BK];
  __shared__ __align__(16) float sB[STAGES][BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 4 threads hold a row of A, BN / 4 threads a row of B.
  const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4;
  const int b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)), and the same for its lanes in a
  // subtile. These are the first row and column of the thread in the first of them.
  const int m = warp_id / (BN / WN) * WM + lane_id / (WSUBN / TN) * TM;
  const int n = warp_id % (BN / WN) * WN + lane_id % (WSUBN / TN) * TN;
  const float* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const float* gB = B + (size_t)b_row * N + block_n + b_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  // [load]
  const int tiles = K / BK;
  auto copy_tile = [&](int tile) {
    if (tile < tiles) {
      const int stage = tile % STAGES;
#pragma unroll
      for (int i = 0; i < BM; i += THREADS * 4 / BK)
        cp_async_cg(smem_addr(&sA[stage][a_row + i][a_col]), gA + (size_t)i * K + tile * BK);
#pragma unroll
      for (int i = 0; i < BK; i += THREADS * 4 / BN)
        cp_async_cg(smem_addr(&sB[stage][b_row + i][b_col]), gB + (size_t)(tile * BK + i) * N);
    }
    cp_async_commit();  // one group a tile, an empty one after the last
  };
  // [/load]

  float acc[WMITER][WNITER][TM][TN] = {};
  copy_tile(0);
  for (int tile = 0; tile < tiles; ++tile) {
    // [pipeline]
    copy_tile(tile + 1);  // on its way during the products
    cp_async_wait<1>();   // all groups but the newest: this thread's part of the tile is there
    __syncthreads();      // everyone's part is
    const int stage = tile % STAGES;
    // [/pipeline]

    // [dot]
    // Always 0, which the compiler cannot know. It would else merge neighbouring k of A into one
    // load, and what is counted would not be what runs.
    const int k0 = K % BK;
#pragma unroll 8  // loads for one k are on their way during the products of another
    for (int k = 0; k < BK; ++k) {
      float rA[WMITER][TM], rB[WNITER][TN];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int i = 0; i < TM; ++i) rA[wm][i] = sA[stage][m + wm * WSUBM + i][k0 + k];
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
          unpack4(&rB[wn][j], load4(&sB[stage][k][n + wn * WSUBN + j]));
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
          for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; ++j) acc[wm][wn][i][j] += rA[wm][i] * rB[wn][j];
    }
    // [/dot]
    // [release]
    __syncthreads();  // everyone has read before the copy after next overwrites
    // [/release]
  }

  // [store]
#pragma unroll
  for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
    for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
          write_c4(gC + (size_t)(wm * WSUBM + i) * N + wn * WSUBN + j, &acc[wm][wn][i][j], alpha,
                   beta);
  // [/store]
}

}  // namespace sgemm_14_async_double_buffer

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_14_async_double_buffer(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_14_async_double_buffer;
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WSUBM * WMITER == WM && WSUBN * WNITER == WN, "a warp's tile is whole subtiles");
  static_assert(WSUBM % TM == 0 && WSUBN % TN == 0 && TN % 4 == 0, "whole threads, 16-byte loads");
  static_assert(WM * WN == 32 * (WMITER * TM) * (WNITER * TN), "32 lanes cover each subtile");
  static_assert(THREADS * 4 % BK == 0 && THREADS * 4 % BN == 0, "whole rows in every pass");
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const float*>(g.A), static_cast<const float*>(g.B),
                static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
