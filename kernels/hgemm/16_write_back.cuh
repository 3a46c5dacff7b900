// hgemm_16_write_back: C goes through shared memory and leaves in whole lines.
//
// Change: a warp's store of two sums a lane touches 8 rows of C, and of each, in T, only 16 bytes,
//   half a sector. Now the sums go where the tiles of A and B were, swizzled by the row as sB is,
//   and from there to C, 16 bytes a thread, whole rows of the tile: 256 bytes of T. In T the tile
//   just fits, 32 KB; in float it goes in two halves. No request has a conflict: a store of two
//   sums a lane takes 1 wavefront in T and 2 in float, a load of 16 bytes 4.
// Rounded once: what beta takes of C is added to the sums before they become T.
// Limit: shared memory: a tile of 32 k takes a block 384 wavefronts of ldmatrix and 192 of copies;
//   the tensor cores take 384 cycles for its products.
// Source: article 000 hgemm_bcf_dbf_rw, article 002 hgemm_bcf_dbf_rw.
// In the article: as in hgemm_13_large_tile; its loop waits at the end, and its last tile is
// peeled.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/smem.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/tile/mma_tile.cuh"
#include "../common/tile/swizzle.cuh"
#include "../common/elements/vec.cuh"

namespace hgemm_16_write_back {

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int WMITER = WM / MMA_M, WNITER = WN / MMA_N;
constexpr int BITS_A = 2, SHIFT_A = 3;
constexpr int BITS_B = 3, SHIFT_B = 4;
constexpr int BITS_C = 3, SHIFT_C = 4;
constexpr int STAGES = 2;
constexpr int SMEM_BYTES = STAGES * BK * (BM + BN) * 2;
constexpr int THREADS = 256;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 2)
    kernel(const T* A, const T* B, TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(128) unsigned char smem[SMEM_BYTES];
  T* sA = reinterpret_cast<T*>(smem);    // the tiles of A,
  T* sB = sA + STAGES * BM * BK;         // then those of B,
  TC* sC = reinterpret_cast<TC*>(smem);  // and after them C

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  // [order]
  const int2 tile = tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  // [/order]

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

  // [load]
  auto copy_tiles = [&](int k_tile, int stage) {
    if (k_tile < K) {
#pragma unroll
      for (int i = 0; i < BM; i += THREADS * 8 / BK)
        cp_async_cg(to_a_addr + (stage * BM + i) * BK * sizeof(T), gA + (size_t)i * K);
#pragma unroll
      for (int i = 0; i < BK; i += THREADS * 8 / BN)
        cp_async_cg(to_b_addr + (stage * BK + i) * BN * sizeof(T), gB + (size_t)i * N);
    }
    gA += BK, gB += (size_t)BK * N;
  };
  // [/load]

  float acc[WMITER][WNITER][4] = {};
  int stage = 0;
  copy_tiles(0, stage);
#pragma unroll 1  // copies of the body would only take registers
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [pipeline]
    cp_async_wait_all();  // this thread's part of both tiles is in place
    __syncthreads();      // everyone's is; and everyone has read the other buffer
    copy_tiles(k_tile + BK, stage ^ 1);
    const uint32_t sA_tile_addr = sA_addr + stage * BM * BK * sizeof(T);
    const uint32_t sB_tile_addr = sB_addr + stage * BK * BN * sizeof(T);
    stage ^= 1;
    // [/pipeline]

#pragma unroll
    for (int k_mma = 0; k_mma < BK; k_mma += MMA_K) {
      // [fragments]
      // Rows 16 apart are swizzled alike: their distance is added. Columns, k_mma and wn * MMA_N,
      // are XORed like the bits of the row before them.
      uint32_t rA[WMITER][4], rB[WNITER][2];
#pragma unroll
      for (int wm = 0; wm < WMITER; ++wm)
        ldmatrix_x4(rA[wm], (sA_tile_addr ^ k_mma * sizeof(T)) + wm * MMA_M * BK * sizeof(T));
#pragma unroll
      for (int wn = 0; wn < WNITER; ++wn)
        ldmatrix_x2_trans(rB[wn], (sB_tile_addr ^ wn * MMA_N * sizeof(T)) + k_mma * BN * sizeof(T));
      // [/fragments]
      mma_tiles<T>(acc, rA, rB);
    }
  }

  constexpr int ROWS = BM * BN * sizeof(TC) <= SMEM_BYTES ? BM : WM;  // of C, at a time
  constexpr int COUNT = 16 / sizeof(TC);                              // elements in 16 bytes
  const int c_row = m + lane_id / 4, c_col = n + lane_id % 4 * 2;
  const int row = tid * COUNT / BN, col = tid * COUNT % BN;
  TC* gC = C + (size_t)block_m * N + block_n;
#pragma unroll
  for (int first = 0; first < BM; first += ROWS) {
    // [collect]
    __syncthreads();  // everyone has read the tiles, or the rows before
    if (ROWS == BM || m == first) {
      const int at = swizzle<BITS_C, SHIFT_C>((c_row - first) * BN + c_col);
#pragma unroll
      for (int i = 0; i < WM; i += 8)
#pragma unroll
        for (int j = 0; j < WN; j += 8) {
          const float* sums = &acc[i / 16][j / 8][i % 16 / 4];
          float2 c = make_float2(alpha * sums[0], alpha * sums[1]);
          if (beta != 0.0f) {
            const float2 old = load2(gC + (size_t)(c_row + i) * N + c_col + j);
            c.x += beta * old.x, c.y += beta * old.y;
          }
          store2(sC + (at ^ j) + i * BN, c);
        }
    }
    __syncthreads();  // these rows are in place
    // [/collect]
    // [store]
    const TC* from = sC + swizzle<BITS_C, SHIFT_C>(row * BN + col);
    TC* to = gC + (size_t)(first + row) * N + col;
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS * COUNT / BN)
      store4(reinterpret_cast<float*>(to + (size_t)i * N),
             load4(reinterpret_cast<const float*>(from + i * BN)));
    // [/store]
  }
}

}  // namespace hgemm_16_write_back

// M and N are multiples of 128, K of 32; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_16_write_back(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_16_write_back;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == 32 * (BM / WM) * (BN / WN), "one warp per 64x32 of the tile");
  static_assert(WM % MMA_M == 0 && WN % MMA_N == 0 && BK % MMA_K == 0, "whole instructions");
  static_assert(BM % (THREADS * 8 / BK) == 0 && BK % (THREADS * 8 / BN) == 0, "whole copies");
  static_assert(8 << (BITS_A + SHIFT_A) <= MMA_M * BK, "16 rows of sA on, the swizzle is the same");
  static_assert(8 << (BITS_B + SHIFT_B) <= MMA_K * BN, "16 rows of sB on, the swizzle is the same");
  static_assert(WM * BN * sizeof(TC) <= SMEM_BYTES, "shared memory holds the rows of a warp");
  static_assert(8 << (BITS_C + SHIFT_C) <= 8 * BN, "8 rows of sC on, the swizzle is the same");
  static_assert(THREADS * 4 % (8 * BN) == 0, "whole rows in every pass, 8 at least");
  return launch(kernel<T, TC>, dim3(g.M / BM * (g.N / BN)), dim3(THREADS), 0, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C), g.M,
                g.N, g.K, g.alpha, g.beta);
}
