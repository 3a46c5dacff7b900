// hgemm_20_any_shape: any M, N, K and any alignment, and small sizes quickly.
//
// Change: the loop of hgemm_18_wide_tile for seven tiles. Where a tile reaches over an edge, copies
//   bring zeros, and nothing is written behind the edge; tiles that never do have no guards. Where
//   rows of A or B do not begin at multiples of 16 bytes, the loop runs on a copy in which they do.
//   Few tiles are cut along k into slices, and a second kernel adds the slices up.
// Up to 16 rows use each element of B 16 times at most: what counts is how fast B comes from
//   memory. Their tile has 16 rows, so two blocks fit on an SM, and slices fill all of them once.
// Which tile is fastest depends on the shape and on the GPU: lab.tune measures, `choose` guesses.
// Source: beyond the articles.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>

#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/host.cuh"
#include "../common/order/block_order.cuh"
#include "../common/shape/padded.cuh"
#include "../common/shape/split_k.cuh"
#include "../common/store/write_back.cuh"
#include "../common/tile/mma_pipeline.cuh"
#include "../common/tile/swizzle.cuh"

namespace hgemm_20_any_shape {

constexpr int BK = 64, BITS = 3, SHIFT_A = 3;
constexpr int THIN_ROWS = 16;  // of the tile for products that have no more

// BM x BN for a block, WM x WN for a warp.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, STAGES = STAGES_;
  static constexpr int WMITER = WM / 16, WNITER = WN / 8;         // products of mma.sync.m16n8k16
  static constexpr int SHIFT_B = 3 + BN / 128;                    // rows of 64, 128 or 256 elements
  static constexpr int SMEM_BYTES = STAGES * BK * (BM + BN) * 2;  // tiles of A and of B
  static constexpr int THREADS = 32 * (BM / WM) * (BN / WN);
  static constexpr bool THIN = BM == THIN_ROWS;  // waits for memory, not for tensor cores
  static constexpr int PER_SM = THIN ? 2 : 1;    // blocks on an SM that slices are made for
  static_assert(BM % (THREADS / 8) == 0 && BN % 64 == 0, "8 threads copy 64 elements");
  static_assert(THREADS % 64 == 0, "8 rows of sA or sB on, the swizzle is the same");
  static_assert(BM * BN * 4 <= SMEM_BYTES, "the tile of C takes the place of those of A and B");
};

// Of slices of slice_k each, blockIdx.z is one; C has room for all. GUARDED: M, N, K are any.
template <class T, class TC, class S, bool GUARDED, int LAYOUT>
__global__ void __launch_bounds__(S::THREADS, 1) kernel(GemmArgs g, int lda, int ldb, int slice_k) {
  constexpr int BM = S::BM, BN = S::BN, WM = S::WM, WN = S::WN, THREADS = S::THREADS;
  constexpr int WMITER = S::WMITER, WNITER = S::WNITER, SHIFT_B = S::SHIFT_B;
  using Pipeline = MmaPipeline<T, BM, BN, WM, WN, S::STAGES, true, LAYOUT>;
  extern __shared__ __align__(128) unsigned char smem[];
  T *sA = reinterpret_cast<T*>(smem), *sB = sA + BM * BK;  // in stage 0
  TC* sC = reinterpret_cast<TC*>(smem);                    // after the tiles of A and B

  grid_launch_dependents();  // add_slices, if there is one, is launched meanwhile
  grid_dependency_wait();    // pad, if there is one, is complete
  const int M = g.M, N = g.N, K = g.K;
  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int2 tile = tile_at(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  const int k_begin = blockIdx.z * slice_k, k_end = min(K, k_begin + slice_k);

  // Copying: 8 threads hold 64 elements of a row, of A or of a quarter of B's columns.
  const int row = tid / 8, col = tid % 8 * 8;
  const T* gA = static_cast<const T*>(g.A) + (size_t)(block_m + row) * lda + k_begin + col;
  constexpr bool TURN_B = LAYOUT & TURNED_B;  // then a row of B's tile is 64 k of a column
  const T* gB =
      static_cast<const T*>(g.B) +
      (TURN_B ? (size_t)(block_n + row) * ldb + k_begin : (size_t)(k_begin + row) * ldb + block_n) +
      col;
  TC* gC = static_cast<TC*>(g.C) + ((size_t)blockIdx.z * M + block_m) * N + block_n;
  const uint32_t to_a_addr = smem_addr(sA + swizzle<BITS, SHIFT_A>(row * BK + col));
  const uint32_t to_b_addr = smem_addr(sB + (TURN_B ? swizzle<BITS, SHIFT_A>(row * BK + col)
                                                    : swizzle<BITS, SHIFT_B>(row * BN + col)));
  uint32_t sB_addr[WNITER / 2];
  const uint32_t sA_addr = Pipeline::fragments(sB_addr, sA, sB, warp_id, lane_id);

  // [load]
  // Chunks of 8 elements are inside or not: where K or N is no multiple of 8, the rows go on, with
  // zeros. Outside, a copy that reads nothing writes zeros. That form takes twice the wavefronts
  // where it reads, so what is inside is copied by the other one.
  const int rows = M - block_m - row, cols = N - block_n - col;  // left from this thread's on
  auto copy_tiles = [&](int k_tile, int stage) {
    const int depth = k_end - k_tile;
    if (depth > 0) {
#pragma unroll
      for (int i = 0; i < BM; i += THREADS / 8) {
        const uint32_t to_addr = to_a_addr + stage + i * BK * sizeof(T);
        const bool inside = !GUARDED || (i < rows && col < depth);
        if (inside) cp_async_cg(to_addr, gA + (size_t)i * lda);
        if (!inside) cp_async_cg_zfill(to_addr, gA, 0);
      }
#pragma unroll
      for (int i = 0; TURN_B && i < BN; i += THREADS / 8) {  // as A: rows of 64 k
        const uint32_t to_addr = to_b_addr + stage + i * BK * sizeof(T);
        const bool inside = !GUARDED || (i < N - block_n - row && col < depth);
        if (inside) cp_async_cg(to_addr, gB + (size_t)i * ldb);
        if (!inside) cp_async_cg_zfill(to_addr, gB, 0);
      }
#pragma unroll
      for (int i = 0; !TURN_B && i < BK; i += THREADS / 8)
#pragma unroll
        for (int j = 0; j < BN; j += 64) {
          const uint32_t to_addr = to_b_addr + stage + (i * BN + j) * sizeof(T);
          const bool inside = !GUARDED || (i < depth - row && j < cols);
          if (inside) cp_async_cg(to_addr, gB + (size_t)i * ldb + j);
          if (!inside) cp_async_cg_zfill(to_addr, gB, 0);
        }
    }
    cp_async_commit();  // one group a tile, an empty one after the last
    gA += BK, gB += TURN_B ? BK : (size_t)BK * ldb;
  };
  // [/load]

  float acc[WMITER][WNITER][4] = {};
  Pipeline::multiply_tiles(acc, sA_addr, sB_addr, copy_tiles, k_begin, k_end);
  write_back_guarded<BM, BN, WM, WN, THREADS, S::SMEM_BYTES, GUARDED>(
      sC, gC, N, M - block_m, N - block_n, acc, g.alpha, g.beta);
}

// [configurations]
// The first TILES in full; then those from SPLIT on, cut along k. In 99 KB of shared memory four
// of the seven have room.
constexpr int TILES = 7, SPLIT = 2, CONFIGS = TILES + TILES - SPLIT;
template <class F>
auto with_tile(int tile, F f) {
  if (tile == 0) return f(Tile<128, 256, 64, 64, 4>());
  if (tile == 1) return f(Tile<256, 128, 64, 64, 4>());
  if (tile == 2) return f(Tile<128, 128, 64, 64, 3>());
  if (tile == 3) return f(Tile<64, 128, 32, 64, 6>());
  if (tile == 4) return f(Tile<128, 64, 64, 32, 4>());
  if (tile == 5) return f(Tile<64, 64, 32, 32, 6>());
  return f(Tile<16, 128, 16, 32, 5>());
}
// [/configurations]

}  // namespace hgemm_20_any_shape

#include "20_any_shape_host.cuh"  // Choice and choose

namespace hgemm_20_any_shape {

// [run]
// TO: the type of what is written, to C or to the slices' sums.
template <class T, class TO, class S, int LAYOUT>
cudaError_t run(const PaddedInputs<T>& p, const Choice& how, cudaStream_t stream) {
  const GemmArgs& g = p.g;
  const bool whole =
      g.M % S::BM == 0 && g.N % S::BN == 0 && g.K % BK == 0 && PaddedInputs<T>::aligned(g.C);
  const auto chosen = whole ? kernel<T, TO, S, false, LAYOUT> : kernel<T, TO, S, true, LAYOUT>;
  const cudaError_t error =
      cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const dim3 grid(ceil_div(g.M, S::BM) * ceil_div(g.N, S::BN), 1, how.slices), block(S::THREADS);
  if (p.copied())
    return launch_dependent(chosen, grid, block, S::SMEM_BYTES, stream, g, p.lda, p.ldb,
                            how.slice_k);
  return launch(chosen, grid, block, S::SMEM_BYTES, stream, g, p.lda, p.ldb, how.slice_k);
}
// [/run]

}  // namespace hgemm_20_any_shape

template <class T, class TC, int LAYOUT = 0>
inline size_t workspace_hgemm_20_any_shape(const GemmArgs& g) {
  const hgemm_20_any_shape::Choice how = hgemm_20_any_shape::choose(g);
  return PaddedInputs<T>(g).bytes + (how.slices > 1 ? slices_bytes(g, how.slices) : 0);
}

// LAYOUT: that of the arguments, compiled apart.
template <class T, class TC, int LAYOUT = 0>
inline cudaError_t launch_hgemm_20_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_20_any_shape;
  static_assert(is_half<T>, "16-bit inputs");
  const Choice how = choose(g);
  if (how.tile < 0 || g.layout != LAYOUT) return cudaErrorInvalidValue;
  PaddedInputs<T> p(g);
  cudaError_t done = p.copy(stream);
  if (done != cudaSuccess) return done;
  if (how.slices == 1)
    return with_tile(how.tile,
                     [&](auto of) { return run<T, TC, decltype(of), LAYOUT>(p, how, stream); });
  p.g.C = p.g.workspace, p.g.alpha = 1.0f, p.g.beta = 0.0f;
  done = with_tile(how.tile,
                   [&](auto of) { return run<T, float, decltype(of), LAYOUT>(p, how, stream); });
  return done != cudaSuccess ? done : launch_add_slices<TC>(p.g.C, g, how.slices, stream);
}
