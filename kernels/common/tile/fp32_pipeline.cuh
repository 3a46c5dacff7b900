// A tile of C in fp32 out of stages that cp.async fills: copies STAGES - 1 tiles ahead, fragments
// one k ahead, one barrier a tile. sgemm_17_pipeline explains it, where it stands inline.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

#include "../elements/epilogue.cuh"
#include "../elements/vec.cuh"
#include "outer_product.cuh"

// The view of one thread. BM x BN of C a block, WM x WN a warp, TM x TN a thread; a stage holds BK
// rows of either matrix, A in panels of BM rows (shape/pack.cuh).
template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int STAGES>
struct Fp32Pipeline {
  static constexpr int LM = WM / TM, LN = WN / TN;  // the lanes of a warp: LM rows x LN columns
  static constexpr int STAGE = BK * (BM + BN);      // floats: a tile of A, then one of B
  static constexpr int THREADS = BM / TM * (BN / TN);
  static_assert(LM * LN == 32, "32 lanes fill a warp's tile");
  static_assert(BM == BN, "one copy mapping for both tiles");
  static_assert(STAGES >= 2 && BK % 2 == 0, "fragments alternate between two sets");

  // Warp (warp_m, warp_n), lane (lane_m, lane_n): of their WM x WN, a lane has 4 of every 4 * LM
  // rows and 4 of every 4 * LN columns.
  int tid, warp_m, warp_n, lane_m, lane_n;
  // What this thread copies next, and where in stage 0 it comes to.
  const float *gA, *gB;
  int N;
  uint32_t to_a_addr, to_b_addr;

  __device__ __forceinline__ Fp32Pipeline() : tid(threadIdx.x) {
    const int warp_id = tid / 32, lane_id = tid % 32;
    warp_m = warp_id / (BN / WN), warp_n = warp_id % (BN / WN);
    lane_m = lane_id / LN, lane_n = lane_id % LN;
  }

  // [load]
  // 32 threads hold a row of a tile of A and one of B (128 floats each), 128 threads 4 rows. The
  // next tiles are those of k tile k_begin, for rows block_m and columns block_n on.
  __device__ __forceinline__ void start(const float* smem, const float* panels, const float* B,
                                        int row_length, int K, int block_m, int block_n,
                                        int k_begin = 0) {
    N = row_length;
    gA = panels + (size_t)block_m * K + (size_t)k_begin * BK * BM + tid * 4;
    to_a_addr = smem_addr(smem) + tid * 16;
    gB = B + (size_t)(k_begin * BK + tid / 32) * N + block_n + tid % 32 * 4;
    to_b_addr = to_a_addr + BK * BM * sizeof(float);
  }
  __device__ __forceinline__ void copy_tiles(int stage) const {
    const uint32_t offset = stage * STAGE * sizeof(float);
#pragma unroll
    for (int i = 0; i < BK; i += THREADS * 4 / BM) {
      cp_async_cg(to_a_addr + offset + i * BM * sizeof(float), gA + i * BM);
      cp_async_cg(to_b_addr + offset + i * BN * sizeof(float), gB + (size_t)i * N);
    }
  }
  __device__ __forceinline__ void advance() {
    gA += BK * BM;
    gB += (size_t)BK * N;
  }
  // [/load]

  // [pipeline]
  // Adds the products of `tiles` k tiles to acc, from where `start` has set out.
  __device__ __forceinline__ void multiply_tiles(float (&acc)[TM][TN], const float* smem,
                                                 int tiles) {
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      if (stage < tiles) {
        copy_tiles(stage);
        advance();
      }
      cp_async_commit();  // empty if there is no such tile: the count of groups stays
    }
    cp_async_wait<STAGES - 2>();  // this thread's copies of tile 0 have arrived
    __syncthreads();              // and everyone's

    float rA[2][TM], rB[2][TN];  // the fragments of this k and of the next one
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
        if (k == 0 && tile + STAGES - 1 < tiles) copy_tiles(free_stage);
        if (k == BK - 2) {
          cp_async_commit();
          advance();
          free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
        }
        outer_product(acc, rA[k % 2], rB[k % 2]);
      }
    }
  }
  // [/pipeline]

  // [store]
  __device__ __forceinline__ void write(float* C, const float (&acc)[TM][TN], int block_m,
                                        int block_n, float alpha, float beta) const {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int m = block_m + warp_m * WM + lane_m * 4 + i / 4 * (4 * LM) + i % 4;
      float* gC = C + (size_t)m * N + block_n + warp_n * WN + lane_n * 4;
#pragma unroll
      for (int j = 0; j < TN; j += 4) write_c4(gC + j * LN, &acc[i][j], alpha, beta);
    }
  }
  // [/store]
};
