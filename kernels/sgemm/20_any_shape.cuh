// sgemm_20_any_shape: any M, N, K and any alignment, and several ways to go.
//
// Change: four ways in place of one.
//   packed: sgemm_19_stream_k, on copies with zeros added where the shape does not fit it.
//   tiles:  A and B as they are given. cp.async of 4 bytes, which needs no other alignment, turns A
//     round on its way; what lies behind an edge it fills with zeros. Few tiles are cut along k
//     into slices, and a second kernel adds the slices up.
//   thin, narrow: at most 16 rows of A, or columns of B. The bytes of the other are the limit.
// Which is fastest depends on the shape and on the GPU: lab.tune measures, `choose` guesses.
// Source: beyond the articles.
#pragma once
#include "../common/elements/guarded.cuh"
#include "../common/order/block_order.cuh"
#include "../common/shape/narrow.cuh"
#include "../common/shape/thin.cuh"
#include "../common/tile/outer_product.cuh"
#include "19_stream_k.cuh"
#include <ptx/cp_async.cuh>
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>

namespace sgemm_20_any_shape {

constexpr int BK = 16, STAGES = 3;
constexpr int LM = 8, LN = 4;            // the lanes of a warp: 8 rows x 4 columns
constexpr int BURST = 4, MIN_SLICE = 8;  // copies one after the other; k tiles of a slice

// BM x BN for a block, TM x TN for a thread, PER_SM blocks on an SM.
template <int BM_, int BN_, int TM_, int TN_, int PER_SM_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, TM = TM_, TN = TN_, PER_SM = PER_SM_;
  static constexpr int WM = LM * TM, WN = LN * TN, THREADS = BM / TM * (BN / TN);
  static constexpr int SMEM_BYTES = STAGES * BK * (BM + 4 + BN) * sizeof(float);
  static_assert(BM % WM == 0 && BN % WN == 0 && BM * 8 % THREADS == 0, "tile");
};

template <class T, bool VECTOR>
__global__ void __launch_bounds__(T::THREADS, T::PER_SM) kernel(GemmArgs g, int slice_tiles) {
  constexpr int BM = T::BM, BN = T::BN, TM = T::TM, TN = T::TN;
  extern __shared__ __align__(16) float smem[];
  const auto sA = reinterpret_cast<float (*)[BK][BM + 4]>(smem);  // of STAGES; turned round
  const auto sB = reinterpret_cast<float (*)[BK][BN]>(smem + STAGES * BK * (BM + 4));
  grid_launch_dependents();  // add_slices, if there is one, is launched meanwhile
  const int M = g.M, N = g.N, K = g.K;
  const int tid = threadIdx.x, warp_id = tid / 32, lane_id = tid % 32;
  const int m = warp_id / (BN / T::WN) * T::WM + lane_id / LN * 4;
  const int n = warp_id % (BN / T::WN) * T::WN + lane_id % LN * 4;
  const int2 tile_mn = tile_at(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN));
  const int block_m = tile_mn.x * BM, block_n = tile_mn.y * BN;

  // [load]
  // A float at a time for A: 8 threads have 8 neighbours of a row, a warp 4 rows. In sA that is
  // sA[k][row]; its rows are 4 floats longer, so k moves the bank by 4 and the warp hits all 32.
  constexpr int A_ROWS = T::THREADS / 8, A_COPIES = BM / A_ROWS * (BK / 8);
  constexpr int WIDTH = VECTOR ? 4 : 1, B_ROWS = T::THREADS * WIDTH / BN, B_COPIES = BK / B_ROWS;
  constexpr int COPIES = A_COPIES + B_COPIES;
  const int a_row = tid / 8, a_k = tid % 8;
  const int b_row = tid * WIDTH / BN, b_col = tid * WIDTH % BN;
  // What K leaves over when it is divided by BK is k tile 0; all others are whole.
  const int all = ceil_div(K, BK), first = blockIdx.y * slice_tiles;
  const int tiles = min(slice_tiles, all - first), odd = K - (all - 1) * BK;
  const int k_begin = first == 0 ? 0 : odd + (first - 1) * BK;
  const float* gA = static_cast<const float*>(g.A) + (size_t)(block_m + a_row) * K + k_begin + a_k;
  const float* gB =
      static_cast<const float*>(g.B) + (size_t)(k_begin + b_row) * N + block_n + b_col;
  int rows = M - block_m - a_row;                         // from a_row on, inside A
  int b_bytes = N - block_n - b_col > 0 ? WIDTH * 4 : 0;  // of a copy that is inside B
  // Copy `i` of a tile that holds `depth` k. What lies outside is not read, and counts as zero.
  auto copy = [&](int stage, int i, int depth) {
    if (i < A_COPIES) {
      const int row = i / (BK / 8) * A_ROWS, k = i % (BK / 8) * 8;
      cp_async_ca_zfill<4>(smem_addr(&sA[stage][a_k + k][a_row + row]), gA + (size_t)row * K + k,
                           row < rows && a_k + k < depth ? 4 : 0);
    } else {
      const int row = (i - A_COPIES) * B_ROWS;
      const uint32_t to = smem_addr(&sB[stage][b_row + row][b_col]);
      const int bytes = depth == BK || b_row + row < depth ? b_bytes : 0;
      if constexpr (VECTOR)
        cp_async_cg_zfill(to, gB + (size_t)row * N, bytes);
      else
        cp_async_ca_zfill<4>(to, gB + (size_t)row * N, bytes);
    }
  };
  auto advance = [&](int depth, bool more) {
    gA += depth;
    gB += (size_t)depth * N;
    if (!more) rows = b_bytes = 0;  // behind the last tile: zeros
  };
  // [/load]

  // [pipeline]
  float acc[TM][TN] = {};
  float rA[2][TM], rB[2][TN];  // the fragments of this k and of the next one
  const float *pA, *pB;        // this thread's place in the first row of a stage
  auto enter = [&](int stage) {
    pA = &sA[stage][0][m];
    pB = &sB[stage][0][n];
  };
  auto load_fragments = [&](int k) {
#pragma unroll
    for (int i = 0; i < TM; i += 4) unpack4(&rA[k % 2][i], load4(pA + k * (BM + 4) + i * LM));
#pragma unroll
    for (int j = 0; j < TN; j += 4) unpack4(&rB[k % 2][j], load4(pB + k * BN + j * LN));
  };
  if (tiles <= 0) rows = b_bytes = 0;
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    const int depth = first + stage == 0 ? odd : BK;
#pragma unroll
    for (int i = 0; i < COPIES; ++i) copy(stage, i, depth);
    cp_async_commit();
    advance(depth, stage + 1 < tiles);
  }
  cp_async_wait<STAGES - 2>();
  __syncthreads();
  enter(0);
  load_fragments(0);
  int stage = 0, free_stage = STAGES - 1;  // of this tile; of the tile STAGES - 1 further on
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        cp_async_wait<STAGES - 2>();
        __syncthreads();  // the next tile is in place; everyone has read the last k of this one
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        enter(stage);
      }
      load_fragments((k + 1) % BK);
#pragma unroll
      for (int i = 0; i < COPIES; ++i)  // BURST at a time, spread over the tile's k
        if (i / BURST * (BK - 1) / ceil_div(COPIES, BURST) == k) copy(free_stage, i, BK);
      if (k == BK - 2) {
        cp_async_commit();
        advance(BK, tile + STAGES < tiles);
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
      }
      outer_product(acc, rA[k % 2], rB[k % 2]);
    }
  }
  cp_async_wait<0>();
  // [/pipeline]

  // [store]
  // One slice writes C, several leave their sums to add_slices, in rows of whole vectors.
  const bool only = gridDim.y == 1;
  const int ldc = only ? N : ceil_div(N, 4) * 4;
  float* to = only ? static_cast<float*>(g.C)
                   : static_cast<float*>(g.workspace) + (size_t)blockIdx.y * M * ldc;
  const float alpha = only ? g.alpha : 1.0f, beta = only ? g.beta : 0.0f;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = block_m + m + i / 4 * (4 * LM) + i % 4;
    float* gC = to + (size_t)row * ldc + block_n + n;
    const int left = (row < M) ? N - block_n - n : 0;
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      if (VECTOR || !only)
        write_c4_guarded<true>(gC + j * LN, &acc[i][j], left - j * LN, alpha, beta);
      else
        write_c4_guarded<false>(gC + j * LN, &acc[i][j], left - j * LN, alpha, beta);
  }
  // [/store]
}

// Microseconds that a way may take, in 20_any_shape_host.cuh.
template <class T>
float guess_tiles(const GemmArgs& g);
inline float guess_packed(const GemmArgs& g);

// [configurations]
using Large = Tile<128, 128, 8, 16, 2>;
using Tall = Tile<128, 64, 8, 8, 3>;
using Small = Tile<64, 64, 8, 8, 4>;
using Slim = Tile<128, 32, 16, 4, 6>;
using Low = Tile<32, 128, 4, 8, 5>;
using Tiny = Tile<32, 32, 4, 4, 8>;
enum Config { PACKED, LARGE, TALL, TALL_SPLIT, SMALL, SMALL_SPLIT, SLIM, LOW, TINY, THIN, NARROW };

// The configuration asked for, else a guess: few rows or columns have ways of their own, small
// products tiny tiles. Of the others that which is guessed to be fastest.
inline int choose(const GemmArgs& g) {
  if (g.config >= 0 && g.config <= NARROW) return g.config;
  if (g.M == 1 && g.N > 1) return THIN;
  if (g.N <= narrow::MAX_COLUMNS && g.K > 32) return NARROW;
  if (g.M <= thin::MAX_ROWS && (long long)g.N * g.K >= 1 << 25) return THIN;
  if (g.M <= 32) return LOW;
  if (g.N <= 32) return SLIM;
  if ((long long)ceil_div(g.M, 64) * ceil_div(g.N, 64) <= 49 && g.K <= 512) return TINY;
  const float small = guess_tiles<Small>(g), tall = guess_tiles<Tall>(g);
  const int low = g.M > 64 && tall < small ? TALL_SPLIT : SMALL_SPLIT;
  if (g.M <= 64 || g.N <= 64) return low;
  const float large = guess_tiles<Large>(g), packed = guess_packed(g);
  if (min(large, packed) >= min(small, tall)) return low;
  return packed < large ? PACKED : LARGE;
}
// [/configurations]

}  // namespace sgemm_20_any_shape

#include "20_any_shape_host.cuh"  // slices, run_tiles, Padded and run_packed

inline size_t workspace_sgemm_20_any_shape(const GemmArgs& g) {
  using namespace sgemm_20_any_shape;
  if (g.M == 0 || g.N == 0) return 0;
  const int config = choose(g);
  if (config == PACKED) return Padded(g).bytes;
  if (config == THIN) return thin::workspace(g);
  if (config == NARROW) return narrow::workspace(g);
  return with_tile(config, [&](auto t, bool cut) { return cut ? sums_bytes<decltype(t)>(g) : 0; });
}

inline cudaError_t launch_sgemm_20_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_20_any_shape;
  const int config = choose(g);
  if (config == PACKED) return run_packed(g, stream);
  if (config == NARROW) return narrow::run(g, stream);
  if (config == THIN) return thin::run(g, g.N % 4 == 0 && divides(16, g.B), stream);
  return with_tile(config,
                   [&](auto t, bool cut) { return run_tiles<decltype(t)>(g, cut, stream); });
}
