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
#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/host.cuh"
#include "../common/shape/pack.cuh"
#include "../common/tile/fp32_pipeline.cuh"

namespace sgemm_18_block_order {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int STAGES = 3, THREADS = 128;
using Pipeline = Fp32Pipeline<BM, BN, BK, WM, WN, TM, TN, STAGES>;
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
  __shared__ __align__(16) float smem[STAGES * Pipeline::STAGE];
  grid_dependency_wait();  // pack has ended

  // [tile]
  Pipeline pipeline;
  const int2 tile = tile_at(blockIdx.x, M / BM, N / BN);
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  pipeline.start(smem, panels, B, N, K, block_m, block_n);
  float acc[TM][TN] = {};
  pipeline.multiply_tiles(acc, smem, K / BK);
  pipeline.write(C, acc, block_m, block_n, alpha, beta);
  // [/tile]
}

}  // namespace sgemm_18_block_order

inline size_t workspace_sgemm_18_block_order(const GemmArgs& g) { return panel_bytes(g); }

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_18_block_order(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_18_block_order;
  static_assert(THREADS == Pipeline::THREADS, "one thread per 8x16 of the tile");
  float* panels = static_cast<float*>(g.workspace);
  const cudaError_t packed = launch_pack_panels<BM>(g, panels, stream);
  if (packed != cudaSuccess) return packed;
  return launch_dependent(kernel, dim3(g.N / BN * (g.M / BM)), dim3(THREADS), 0, stream, panels,
                          static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K,
                          g.alpha, g.beta);
}
