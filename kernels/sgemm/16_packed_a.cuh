// sgemm_16_packed_a: a kernel of its own turns A round beforehand, into panels.
//
// Change: `pack` writes A to the workspace as panels of 128 rows, k by k: panel[k][m]. What a block
//   then needs of A for one tile are 8 KB in one piece, in the order of sA. 16-byte asynchronous
//   copies bring both tiles, and no value passes through a register on its way. GotoBLAS packs its
//   operands on CPUs for the same reason.
// Price: A is read and written once more, 8 M K bytes, before the product begins.
// Limit: the FMA pipe; barriers, two a tile again.
// Source: beyond the articles. K. Goto, R. van de Geijn: Anatomy of High-Performance Matrix
//   Multiplication, ACM TOMS 34 (2008).
#pragma once
#include "../common/elements/epilogue.cuh"
#include "../common/launch/host.cuh"
#include "../common/elements/vec.cuh"
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

namespace sgemm_16_packed_a {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int LM = 8, LN = 4;  // the lanes of a warp: 8 rows x 4 columns
constexpr int STAGES = 2;
constexpr int THREADS = 128;
constexpr int PACK_THREADS = 256, PACK_K = 32;

// [pack]
// panels[(m / BM * K + k) * BM + m % BM] = A[m][k]. A block turns 128 x 32 elements round; the rows
// of its buffer are 4 floats longer, which makes the loads of a float4 along m free of conflicts.
__global__ void __launch_bounds__(PACK_THREADS) pack(const float* A, float* panels, int K) {
  __shared__ __align__(16) float turned[PACK_K][BM + 4];
  const int tid = threadIdx.x, k0 = blockIdx.x * PACK_K;
  const int row = tid / 8, col = tid % 8 * 4;  // 8 threads hold 32 floats of a row
  const int depth = min(PACK_K, K - k0);
  if (col < depth) {
#pragma unroll
    for (int i = 0; i < BM; i += PACK_THREADS / 8) {
      const float4 a = load4(A + (size_t)(blockIdx.y * BM + row + i) * K + k0 + col);
      turned[col + 0][row + i] = a.x;
      turned[col + 1][row + i] = a.y;
      turned[col + 2][row + i] = a.z;
      turned[col + 3][row + i] = a.w;
    }
  }
  __syncthreads();
  float* panel = panels + ((size_t)blockIdx.y * K + k0) * BM;
  for (int i = tid * 4; i < depth * BM; i += PACK_THREADS * 4)
    store4(panel + i, load4(&turned[i / BM][i % BM]));
}
// [/pack]

__global__ void __launch_bounds__(THREADS, 2) kernel(const float* panels, const float* B, float* C,
                                                     int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[STAGES][BK][BM];
  __shared__ __align__(16) float sB[STAGES][BK][BN];

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int block_m = blockIdx.y * BM, block_n = blockIdx.x * BN;

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
  float acc[TM][TN] = {};
  const int tiles = K / BK;
  if (tiles > 0) copy_tile(0);
  advance();
  cp_async_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) copy_tile((tile + 1) % STAGES);
    advance();
    cp_async_commit();   // empty behind the last tile: the count of groups stays
    cp_async_wait<1>();  // this thread's copies of this tile have arrived
    __syncthreads();     // and everyone's
    const int stage = tile % STAGES;
    // [dot]
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) unpack4(&rA[i], load4(&sA[stage][k][m + i * LM]));
#pragma unroll
      for (int j = 0; j < TN; j += 4) unpack4(&rB[j], load4(&sB[stage][k][n + j * LN]));
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rA[i] * rB[j];
    }
    // [/dot]
    __syncthreads();  // everyone has read before the next copies overwrite
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

}  // namespace sgemm_16_packed_a

// The panels: as large as A.
inline size_t workspace_sgemm_16_packed_a(const GemmArgs& g) {
  return (size_t)g.M * g.K * sizeof(float);
}

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_16_packed_a(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_16_packed_a;
  static_assert(LM * LN == 32 && LM * TM == WM && LN * TN == WN, "32 lanes fill a warp's tile");
  static_assert(THREADS == BM / TM * (BN / TN), "one thread per 8x16 of the tile");
  static_assert(BM == BN, "one copy mapping for both tiles");
  float* panels = static_cast<float*>(g.workspace);
  if (g.K > 0) {
    const cudaError_t packed =
        launch(pack, dim3(ceil_div(g.K, PACK_K), g.M / BM), dim3(PACK_THREADS), 0, stream,
               static_cast<const float*>(g.A), panels, g.K);
    if (packed != cudaSuccess) return packed;
  }
  return launch(kernel, dim3(g.N / BN, g.M / BM), dim3(THREADS), 0, stream, panels,
                static_cast<const float*>(g.B), static_cast<float*>(g.C), g.M, g.N, g.K, g.alpha,
                g.beta);
}
