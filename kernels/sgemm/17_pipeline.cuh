// sgemm_17_pipeline: copies two tiles ahead, fragments one k ahead, one barrier a tile.
//
// Change: three stages. While tile t is multiplied, tiles t + 1 and t + 2 are on their way, and the
//   one barrier of a tile stands before its last k: it says that tile t + 1 is in place and that
//   everyone is done with the stage that tile t + 3 will fill. The fragments of k + 1 are loaded
//   while those of k are multiplied, across the end of a tile, too, so that no FMA waits for a load
//   that has just been issued.
// Limit: the FMA pipe; the last wave of blocks.
// Source: beyond the articles; the shape of CUTLASS' multistage kernels.
#pragma once
#include "../common/launch/dependent_launch.cuh"
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/shape/pack.cuh"
#include "../common/elements/vec.cuh"
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

namespace sgemm_17_pipeline {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int LM = 8, LN = 4;                      // the lanes of a warp: 8 rows x 4 columns
constexpr int STAGES = 3, STAGE = BK * (BM + BN);  // floats: a tile of A, then one of B
constexpr int THREADS = 128;

// [order]
// Column by column, down and up: from one FMA to the next, one factor stays.
__device__ __forceinline__ void outer_product(float (&acc)[TM][TN], const float (&rA)[TM],
                                              const float (&rB)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j)
#pragma unroll
    for (int step = 0; step < TM; ++step) {
      const int i = j % 2 ? TM - 1 - step : step;
      acc[i][j] += rA[i] * rB[j];
    }
}
// [/order]

// [load]
// This thread's copies of a tile of A and one of B: 32 threads hold a row of either (128 floats),
// 128 threads 4 rows.
struct Copies {
  const float *gA, *gB;  // of the next tiles
  int N;
  uint32_t sA, sB;  // in stage 0

  __device__ __forceinline__ void copy_tiles(int stage) const {
    const uint32_t offset = stage * STAGE * sizeof(float);
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 4 / BM) {
      cp_async_cg(sA + offset + i * BM * sizeof(float), gA + i * BM);
      cp_async_cg(sB + offset + i * BN * sizeof(float), gB + (size_t)i * N);
    }
  }
  __device__ __forceinline__ void advance() {
    gA += BK * BM;
    gB += (size_t)BK * N;
  }
};
// [/load]

__global__ void __launch_bounds__(THREADS, 2) kernel(const float* panels, const float* B, float* C,
                                                     int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float smem[STAGES * STAGE];
  grid_dependency_wait();  // pack has ended

  // [map]
  // Warp (warp_m, warp_n), lane (lane_m, lane_n): of their 64x64, a lane has 4 of every 32 rows and
  // 4 of every 16 columns.
  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int warp_m = warp_id / (BN / WN), warp_n = warp_id % (BN / WN);
  const int lane_m = lane_id / LN, lane_n = lane_id % LN;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;
  Copies copies;
  copies.N = N;
  copies.gA = panels + (size_t)block_m * K + tid * 4;
  copies.sA = smem_addr(smem) + tid * 16;
  copies.gB = B + (size_t)(tid / 32) * N + block_n + tid % 32 * 4;
  copies.sB = copies.sA + BK * BM * sizeof(float);
  // [/map]

  // [pipeline]
  const int tiles = K / BK;
  float acc[TM][TN] = {};
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    if (stage < tiles) {
      copies.copy_tiles(stage);
      copies.advance();
    }
    cp_async_commit();  // empty if there is no such tile: the count of groups stays
  }
  cp_async_wait<STAGES - 2>();  // this thread's copies of tile 0 have arrived
  __syncthreads();              // and everyone's

  float rA[2][TM], rB[2][TN];                         // the fragments of this k and of the next one
  const float* sA = smem + warp_m * WM + lane_m * 4;  // this thread's place in stage 0
  const float* sB = smem + BK * BM + warp_n * WN + lane_n * 4;
  const float *pA = sA, *pB = sB;  // and in the present stage
  auto load_fragments = [&](int k) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) unpack4(&rB[k % 2][j], load4(pB + k * BN + j * LN));
#pragma unroll
    for (int i = 0; i < TM; i += 4) unpack4(&rA[k % 2][i], load4(pA + k * BM + i * LM));
  };
  if (tiles > 0) load_fragments(0);
  int stage = 0, free_stage = STAGES - 1;  // of this tile; of the tile STAGES - 1 further on
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        cp_async_wait<STAGES - 2>();
        __syncthreads();  // the next tile is in place; everyone has read the last k of this one
        stage = stage + 1 == STAGES || tile + 1 == tiles ? 0 : stage + 1;
        pA = sA + stage * STAGE, pB = sB + stage * STAGE;
      }
      load_fragments((k + 1) % BK);  // behind the last tile: from stage 0, and not used
      if (k == 0 && tile + STAGES - 1 < tiles) copies.copy_tiles(free_stage);
      if (k == BK - 2) {
        cp_async_commit();
        copies.advance();
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
      }
      outer_product(acc, rA[k % 2], rB[k % 2]);
    }
  }
  // [/pipeline]

  // [store]
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = block_m + warp_m * WM + lane_m * 4 + i / 4 * (4 * LM) + i % 4;
    float* gC = C + (size_t)m * N + block_n + warp_n * WN + lane_n * 4;
#pragma unroll
    for (int j = 0; j < TN; j += 4) write_c4(gC + j * LN, &acc[i][j], alpha, beta);
  }
  // [/store]
}

}  // namespace sgemm_17_pipeline

inline size_t workspace_sgemm_17_pipeline(const GemmArgs& g) { return panel_bytes(g); }

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_17_pipeline(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_17_pipeline;
  static_assert(LM * LN == 32 && LM * TM == WM && LN * TN == WN, "32 lanes fill a warp's tile");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x16 of the tile");
  static_assert(BM == BN, "one copy mapping for both tiles");
  static_assert(STAGES >= 2 && BK % 2 == 0, "fragments alternate between two sets");
  float* panels = static_cast<float*>(g.workspace);
  const cudaError_t packed = launch_pack_panels<BM>(g, panels, stream);
  if (packed != cudaSuccess) return packed;
  return launch_dependent(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream, panels,
                          static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K,
                          g.alpha, g.beta);
}
