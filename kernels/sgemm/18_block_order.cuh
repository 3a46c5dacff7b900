// sgemm_18_block_order: blocks that run together share rows and columns of tiles.
//
// Change: block t takes the tiles of C in strips of 8 rows of tiles, column by column within a
//   strip. The 264 blocks in flight on 132 SMs then cover about 8 x 33 tiles and need 41 panels of
//   A and B. Row by row, in a grid of 64 x 64 tiles (8192), they cover 5 rows and need 69. Where a
//   row has 32 tiles (4096), 264 tiles are 8 whole rows anyway, and strips gain nothing.
// Every grid: the last strip has the rows that are left, so each tile is taken exactly once. The
//   articles' formula assumes that 8 divides the grid.
// Limit: the FMA pipe; the last wave of blocks.
// Source: beyond the articles; what articles 000 and 002 call grid swizzling.
#pragma once
#include "../common/dependent_launch.cuh"
#include "../common/epilogue.cuh"
#include "../common/host.cuh"
#include "../common/outer_product.cuh"
#include "../common/pack.cuh"
#include "../common/vec.cuh"
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

namespace sgemm_18_block_order {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int LM = 8, LN = 4;  // the lanes of a warp: 8 rows x 4 columns
constexpr int STAGES = 3;
constexpr int THREADS = 128;
constexpr int STRIP = 8;  // rows of tiles

// [order]
// (row, column) of the t-th tile: strips of STRIP rows, column by column within a strip.
__device__ __forceinline__ int2 tile_at(int t, int rows, int columns) {
  const int strip = t / (STRIP * columns) * STRIP;  // its first row
  const int height = min(STRIP, rows - strip);      // the last strip may be lower
  const int within = t - strip * columns;
  return make_int2(strip + within % height, within / height);
}
// [/order]

__global__ void __launch_bounds__(THREADS, 2) kernel(const float* panels, const float* B, float* C,
                                                     int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[STAGES][BK][BM];
  __shared__ __align__(16) float sB[STAGES][BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int2 tile_mn = tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile_mn.x * BM, block_n = tile_mn.y * BN;

  // [map]
  // Copying: 32 threads hold a row of either tile (128 floats), 128 threads 4 rows.
  const int copy_row = tid / 32, copy_col = tid % 32 * 4;
  // Computing: warp (warp_id / 2, warp_id % 2), lane (lane_id / 4, lane_id % 4) has rows
  // m + 32 i to m + 32 i + 3 and columns n + 16 j to n + 16 j + 3.
  const int m = warp_id / (BN / WN) * WM + lane_id / LN * 4;
  const int n = warp_id % (BN / WN) * WN + lane_id % LN * 4;
  const float* gA = panels + (size_t)block_m * K + tid * 4;
  const float* gB = B + (size_t)copy_row * N + block_n + copy_col;
  float* gC = C + (size_t)(block_m + m) * N + block_n + n;
  // [/map]
  grid_dependency_wait();  // pack has ended

  // [load]
  auto copy_tile = [&](int stage) {
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 4 / BM)
      cp_async_cg(smem_addr(&sA[stage][copy_row + i][copy_col]), gA + i * BM);
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 4 / BN)
      cp_async_cg(smem_addr(&sB[stage][copy_row + i][copy_col]), gB + (size_t)i * N);
  };
  auto advance = [&] {
    gA += BK * BM;
    gB += (size_t)BK * N;
  };
  // [/load]

  // [pipeline]
  float rA[2][TM], rB[2][TN];  // the fragments of this k and of the next one
  const float *pA, *pB;        // this thread's place in the first row of a stage
  auto enter = [&](int stage) {
    pA = &sA[stage][0][m];
    pB = &sB[stage][0][n];
  };
  auto load_fragments = [&](int k) {
#pragma unroll
    for (int i = 0; i < TM; i += 4) unpack4(&rA[k % 2][i], load4(pA + k * BM + i * LM));
#pragma unroll
    for (int j = 0; j < TN; j += 4) unpack4(&rB[k % 2][j], load4(pB + k * BN + j * LN));
  };

  float acc[TM][TN] = {};
  const int tiles = K / BK;
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    if (stage < tiles) copy_tile(stage);
    advance();
    cp_async_commit();  // empty if there is no such tile: the count of groups stays
  }
  cp_async_wait<STAGES - 2>();  // this thread's copies of tile 0 have arrived
  __syncthreads();              // and everyone's
  enter(0);
  if (tiles > 0) load_fragments(0);

  int stage = 0, free_stage = STAGES - 1;  // of this tile; of the tile STAGES - 1 further on
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        cp_async_wait<STAGES - 2>();
        __syncthreads();  // the next tile is in place; everyone has read the last k of this one
        if (tile + 1 < tiles) stage = stage + 1 == STAGES ? 0 : stage + 1;
        enter(stage);  // behind the last tile: the last one again, loaded and not used
      }
      load_fragments((k + 1) % BK);
      if (k == 0) {
        if (tile + STAGES - 1 < tiles) copy_tile(free_stage);
        advance();
        cp_async_commit();
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
      }
      outer_product(acc, rA[k % 2], rB[k % 2]);
    }
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

}  // namespace sgemm_18_block_order

inline size_t workspace_sgemm_18_block_order(const GemmArgs& g) { return panel_bytes(g); }

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_18_block_order(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_18_block_order;
  static_assert(LM * LN == 32 && LM * TM == WM && LN * TN == WN, "32 lanes fill a warp's tile");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x16 of the tile");
  static_assert(BM == BN, "one copy mapping for both tiles");
  static_assert(STAGES >= 2 && BK % 2 == 0, "fragments alternate between two sets");
  float* panels = static_cast<float*>(g.workspace);
  const cudaError_t packed = launch_pack_panels<BM>(g, panels, stream);
  if (packed != cudaSuccess) return packed;
  return launch_dependent(kernel, dim3(g.N / BN * (g.M / BM)), dim3(THREADS), 0, stream, panels,
                          static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K,
                          g.alpha, g.beta);
}
