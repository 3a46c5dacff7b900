// The second half of a schedule that cuts small tiles (stream_k.cuh): every block has left its
// piece, and this kernel adds up the pieces of each tile and writes C. It is launched beside the
// first one, so nobody counts arrivals, and no counter has to be cleared.
#pragma once
#include <ptx/grid.cuh>

#include "../elements/epilogue.cuh"
#include "../elements/half.cuh"
#include "../store/warp_store.cuh"
#include "edges_first.cuh"
#include "stream_k.cuh"

constexpr int ADDERS = 4;  // warps that share the pieces of one 16x8

// A block adds up one 16x8 of a warp's part of a tile S that was cut, always in the same order.
template <class TC, class S>
__global__ void __launch_bounds__(32 * ADDERS)
    add_cut_tiles(Output<TC> out, Schedule share, const float4* pieces) {
  constexpr int GROUPS = S::WM * S::WN / 128, COLUMNS = S::WN / 8;
  __shared__ float4 sums[ADDERS][32];
  const int adder = threadIdx.x / 32, lane_id = threadIdx.x % 32;
  const int group = blockIdx.x % GROUPS, part = blockIdx.x / GROUPS, warp = part % S::WARPS;
  const int number = part / S::WARPS, count = share.pieces(number);
  const int2 tile = EdgesFirst<S::BM, S::BN>(out.M, out.N)[number];
  const int m = tile.x * S::BM + S::m(warp), n = tile.y * S::BN + S::n(warp);
  if (m >= out.M || n >= out.N) return;  // this warp had nothing to leave
  const float4* from = pieces + ((size_t)part * share.slots() * GROUPS + group) * 32 + lane_id;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  grid_dependency_wait();  // all pieces are there
#pragma unroll 8
  for (int piece = adder; piece < count; piece += ADDERS) {
    const float4 v = from[piece * GROUPS * 32];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  sums[adder][lane_id] = sum;
  __syncthreads();
  if (adder > 0) return;
#pragma unroll
  for (int other = 1; other < ADDERS; ++other) {
    const float4 v = sums[other][lane_id];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  // Of a 16x8, lane l holds columns l % 4 * 2 and the next, of row l / 4 and of the row 8 on.
  const int row = m + group / COLUMNS * 16 + lane_id / 4;
  const int col = n + group % COLUMNS * 8 + lane_id % 4 * 2;
  const float c[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (row + i / 2 * 8 < out.M && col + i % 2 < out.N)
      write_c(out.C + (size_t)(row + i / 2 * 8) * out.N + col + i % 2, c[i], out.alpha, out.beta);
}
