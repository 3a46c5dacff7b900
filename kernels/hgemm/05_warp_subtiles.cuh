// hgemm_05_warp_subtiles: a thread's 16x8 elements are four pieces of 8x4.
//
// Change: the warp's 32x128 are WMITER x WNITER subtiles of 16x64, and in each of them a thread has
//   TM x TN elements. In sgemm_12_warp_subtiles this made the loads of B free of bank conflicts.
//   With 16 bits they were before: neighbouring lanes start 16 bytes apart in hgemm_04, 8 here, and
//   two loads of 2 wavefronts replace one of 4.
// With C in fp32 a store of a warp fills its 16 sectors, where it filled half of 32; the time of a
//   whole product does not show it.
// Limit: instructions. Of the 162 of a k, 128 are FMAs, 24 conversions, 10 loads.
// Source: article 001 kernel 06 in mixed precision.
// In the article: no code; two k of A are one word.
#pragma once
#include "../common/elements/half_vec.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_05_warp_subtiles {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 32, WN = 128;
// Any four with WM * WN == 32 * (WMITER * TM) * (WNITER * TN) will do.
constexpr int WMITER = 2;
constexpr int WNITER = 2;
constexpr int TM = 8;
constexpr int TN = 4;
constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) T sA[BM][BK];
  __shared__ __align__(16) T sB[BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

  // [map]
  // Copying: BK / 8 threads hold a row of A, BN / 8 threads a row of B.
  const int a_row = tid / (BK / 8), a_col = tid % (BK / 8) * 8;
  const int b_row = tid / (BN / 8), b_col = tid % (BN / 8) * 8;
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)), and the same for its lanes in a
  // subtile. These are the first row and column of the thread in the first of them.
  const int m = warp_id / (BN / WN) * WM + lane_id / (WSUBN / TN) * TM;
  const int n = warp_id % (BN / WN) * WN + lane_id % (WSUBN / TN) * TN;
  const T* gA = A + (size_t)(block_m + a_row) * K + a_col;
  const T* gB = B + (size_t)b_row * N + block_n + b_col;
  TC* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]

  float acc[WMITER][WNITER][TM][TN] = {};
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

    // [dot]
    // Always 0, which the compiler cannot know. It would else merge neighbouring k of A into one
    // load, and what is counted would not be what runs.
    const int k0 = K % BK;
#pragma unroll 4  // loads for some k are on their way during the products of others
    for (int k = 0; k < BK; k += 2) {
      float rA[WMITER][TM][2], rB[WNITER][TN];  // of two k, of one
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
        for (int i = 0; i < TM; ++i)
          unpack2<T>(rA[wm][i], load_pair(&sA[m + wm * WSUBM + i][k0 + k]));
#pragma unroll
      for (int kk = 0; kk < 2; ++kk) {
#pragma unroll
        for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
          for (int j = 0; j < TN; j += 4)
            unpack4<T>(&rB[wn][j], load4(&sB[k + kk][n + wn * WSUBN + j]));
#pragma unroll
        for (int wm = 0; wm < WMITER; ++wm)
#pragma unroll
          for (int wn = 0; wn < WNITER; ++wn)
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
              for (int j = 0; j < TN; ++j) acc[wm][wn][i][j] += rA[wm][i][kk] * rB[wn][j];
      }
    }
    __syncthreads();  // everyone has read before the next tiles overwrite
    // [/dot]
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

}  // namespace hgemm_05_warp_subtiles

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_05_warp_subtiles(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_05_warp_subtiles;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BM % WM == 0 && BN % WN == 0 && THREADS == 32 * (BM / WM) * (BN / WN), "warps");
  static_assert(WSUBM * WMITER == WM && WSUBN * WNITER == WN, "a warp's tile is whole subtiles");
  static_assert(WSUBM % TM == 0 && WSUBN % TN == 0 && TN % 4 == 0, "whole threads, 8-byte loads");
  static_assert(WM * WN == 32 * (WMITER * TM) * (WNITER * TN), "32 lanes cover each subtile");
  static_assert(THREADS * 8 % BK == 0 && THREADS * 8 % BN == 0, "whole rows in every pass");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
