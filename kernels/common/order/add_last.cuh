// The second half of a LastWave that cuts small tiles: every team has left its piece, and this
// kernel adds up the pieces of each tile and writes C, as add_cut.cuh does for a Schedule.
#pragma once
#include "add_cut.cuh"
#include "last_wave.cuh"
#include "snake.cuh"

// A block adds up one 16x8 of what a warp has of a tile S: 16 rows of each 64. Always in the same
// order.
template <class TC, class S>
__global__ void __launch_bounds__(32 * ADDERS)
    add_last_tiles(Output<TC> out, Snake order, LastWave share, const float4* pieces) {
  constexpr int COLUMNS = S::BN / 8, GROUPS = S::PIECE / 32;
  __shared__ float4 sums[ADDERS][32];
  grid_launch_dependents();
  const int adder = threadIdx.x / 32, lane_id = threadIdx.x % 32;
  const int group = blockIdx.x % GROUPS, part = blockIdx.x / GROUPS;
  const int block = part / S::PARTS, warp = part % S::PARTS;  // of a cluster's tile that was cut
  const Work work = {share.tiles - share.rest + block / S::CLUSTER, 0, 0};
  const int2 tile = order[work.tile];
  const int own_row = warp / 4 * S::ROWS + group / COLUMNS * 64 + warp % 4 * 16;
  const int row = (tile.x * S::CLUSTER + block % S::CLUSTER) * S::BM + own_row;
  const int col = tile.y * S::BN + group % COLUMNS * 8;
  if (row >= out.M || col >= out.N) return;
  const int count = share.pieces(work);
  const float4* from = pieces + ((size_t)part * share.slots() * GROUPS + group) * 32 + lane_id;
  float c[4] = {};
  auto add = [&](const float4& v) { c[0] += v.x, c[1] += v.y, c[2] += v.z, c[3] += v.w; };
  grid_dependency_wait();  // all pieces are there
#pragma unroll 8
  for (int piece = adder; piece < count; piece += ADDERS) add(from[piece * GROUPS * 32]);
  sums[adder][lane_id] = make_float4(c[0], c[1], c[2], c[3]);
  __syncthreads();
  if (adder > 0) return;
#pragma unroll
  for (int other = 1; other < ADDERS; ++other) add(sums[other][lane_id]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // as wgmma.cuh says of d[0] to d[3]
    const int m = row + lane_id / 4 + i / 2 * 8, n = col + lane_id % 4 * 2 + i % 2;
    const size_t at = S::TRANSPOSED ? (size_t)n * out.M + m : (size_t)m * out.N + n;
    if (m < out.M && n < out.N) write_c(out.C + at, c[i], out.alpha, out.beta);
  }
}
