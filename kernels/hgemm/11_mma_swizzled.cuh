// hgemm_11_mma_swizzled: both tiles are swizzled, and no ldmatrix has a conflict.
//
// Change: groups of 8 elements (16 bytes, what ldmatrix calls a row) trade places by an XOR of
//   their number with bits of the row they are in. Of sA, whose rows have 2 groups, with bit 2 of
//   the row, as 4 rows fill the 32 banks; of sB, whose rows fill them twice, with bits 0 to 2.
//   Every 8x8 matrix is one wavefront then: 4 for .x4, 2 for .x2, and no fewer are possible.
// The article swizzles sB alone and with SHIFT 3, where bits 0 and 1 of the row and a bit of the
//   column take part: 4 wavefronts for .x2. It holds conflicts of .x4 for unavoidable.
// Limit: global memory's latency; the tiles are waited for at once.
// Source: article 001 kernel 14.
// In the article: as said above, and B loaded as in hgemm_10_mma: the experiment "hgemm 11, as
//   published".
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "../common/elements/half.cuh"
#include "../common/launch/host.cuh"

namespace hgemm_11_mma_swizzled {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 1, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
constexpr int THREADS = 128;

// [swizzle]
// CUTLASS' Swizzle<BITS, 3, SHIFT> on an offset in elements. Groups of 8 elements stay together;
// the BITS bits that say which group are XORed with those SHIFT places higher.
template <int BITS, int SHIFT>
__device__ __forceinline__ int swizzle(int offset) {
  return offset ^ (offset >> SHIFT & ((1 << BITS) - 1) << 3);
}
// [/swizzle]

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
  const uint32_t to_a_addr = smem_addr(sA + swizzle<BITS_A, SHIFT_A>(a_row * BK + a_col));
  const uint32_t to_b_addr = smem_addr(sB + swizzle<BITS_B, SHIFT_B>(b_row * BN + b_col));
  // Computing: warp (warp_id / (BN / WN), warp_id % (BN / WN)). Of a 16x16 of A, lane l names row
  // l % 16, in its left half for l < 16, else in its right one; of a 16x8 of B, row l % 16, where
  // lanes 16 to 31 are not asked.
  const int m = warp_id / (BN / WN) * WM;
  const int n = warp_id % (BN / WN) * WN;
  const int a_from = (m + lane_id % 16) * BK + lane_id / 16 * 8;
  const int b_from = lane_id % 16 * BN + n;
  const uint32_t sA_addr = smem_addr(sA + swizzle<BITS_A, SHIFT_A>(a_from));
  const uint32_t sB_addr = smem_addr(sB + swizzle<BITS_B, SHIFT_B>(b_from));
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
      // Rows 16 apart are swizzled alike: their distance is added. The column of a matrix has bits
      // of its own within the group's number, so it may be XORed after the row's bits as before.
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], (sA_addr ^ k_mma * sizeof(T)) + wm * MMA_M * BK * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn], (sB_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BN * sizeof(T));
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

}  // namespace hgemm_11_mma_swizzled

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_11_mma_swizzled(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_11_mma_swizzled;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x64 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  static_assert(8 << (BITS_A + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS_B + SHIFT_B) <= THREADS * 8, "a copy of sB on, the swizzle is the same");
  return launch(kernel<T, TC>, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
