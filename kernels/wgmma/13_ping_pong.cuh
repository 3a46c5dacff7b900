// wgmma_13_ping_pong: two consumers that take turns, each with a tile of its own.
//
// Change: at 2048, a block has one tile of 128x256, and nothing hides its end. Here each consumer
//   has 128x128 sums of its own tile, and the two take turns: while one stores, the other
//   multiplies. Two mbarriers pass the turn. They are needed for correctness, too: a consumer that
//   waits for a stage which the other has yet to use waits for a phase two ahead, whose parity
//   looks complete.
// Limit: the L2 at large sizes: 128x128 reads 64 bytes of it a cycle, 128x256 in clusters 32.
// Source: beyond the articles.
#pragma once
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/order/snake.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_13_ping_pong {

// 128x128 a consumer, six stages, two consumers, no cluster; strips of 16 tiles.
using S = WgmmaShape<128, 128, 6, 2, 1>;
constexpr int STRIP = 16;
constexpr int SMEM_BYTES = S::SMEM_BYTES + 2 * 8;  // and an mbarrier for the turns of each

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, Snake order, int depth) {
  extern __shared__ __align__(1024) unsigned char smem[];
  S::Ring ring(smem_addr(smem) + S::BARS);
  const uint32_t turn_addr = smem_addr(smem) + S::SMEM_BYTES;

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  int2 tile = {};  // the producer's first one, found while the mbarriers are made
  if (wg_id == S::CONSUMERS) tile = order[blockIdx.x];
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, depth > 0, out.by_engine);
    for (int i = 0; i < S::CONSUMERS; ++i) mbarrier_init(turn_addr + i * 8, 1);
    ring.init(1);  // a stage has one consumer
  }
  __syncthreads();
  grid_dependency_wait();    // A, B and C are as the grid before has left them
  grid_launch_dependents();  // the next one may begin, and wait here
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    setmaxnreg_dec<S::PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 != S::WARPS || !elect_one()) return;
    for (int t = blockIdx.x; t < order.tiles(); t += gridDim.x) {
      if (t >= gridDim.x) tile = order[t];
      for (int k_tile = 0; k_tile < depth; ++k_tile) {
        ring.wait_empty();
        mbarrier_arrive_expect_tx(ring.full_addr(), S::STAGE_BYTES);
        load_tiles<S>(maps, smem_addr(smem) + ring.offset, ring.full_addr(), tile.x * S::BM,
                      tile.y * S::BN, k_tile * S::BK, 0);
        ring.next();
      }
    }
    return;
  }
  // [/produce]

  // [consume]
  setmaxnreg_inc<S::CONSUMER_REGISTERS>();
  auto release = [&](uint32_t empty_addr) {
    if (threadIdx.x % 128 == 0) mbarrier_arrive(empty_addr);
  };
  WarpgroupTile<T, S::BM, S::BM, S::BN> sums(smem_addr(smem), 0);
  StoreRing<> store_ring(smem_addr(smem) + S::OUT + threadIdx.x / 32 * StoreRing<>::BYTES);
  uint32_t turn_parity = wg_id ^ 1;  // the first turn is consumer 0's: parity 1 is over
  if (wg_id == 1) ring.skip(depth);  // whose tile comes first
  for (int t = blockIdx.x + wg_id * gridDim.x; t < order.tiles(); t += 2 * gridDim.x) {
    // [turn]
    mbarrier_wait(turn_addr + wg_id * 8, turn_parity), turn_parity ^= 1;
    const uint32_t used_addr = sums.template start_tiles<0>(ring, depth, release, [](int) {});
    // All products are started: the other's come behind them.
    if (threadIdx.x % 128 == 0) mbarrier_arrive(turn_addr + (wg_id ^ 1) * 8);
    sums.finish_tiles(used_addr, depth, release);
    ring.skip(depth);
    // [/turn]
    tile = order[t];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = tile.x * S::BM + half * 64, col = tile.y * S::BN;
      scale_sums(out, row, col, sums.acc[half]);
      store_rows(out, &maps.c, store_ring, row, col, sums.acc[half]);
    }
  }
  store_ring.finish();
  // [/consume]
}

}  // namespace wgmma_13_ping_pong

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_13_ping_pong(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_13_ping_pong;
  static_assert(is_half<T>, "16-bit inputs");
  const Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  GemmMaps maps;
  cudaError_t error = encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B),
                                     out, g.K, g.K, g.N);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC>, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const Snake order(ceil_div(g.M, S::BM), ceil_div(g.N, S::BN), wgmma_13_ping_pong::STRIP);
  // One block fits on an SM, by its shared memory. Without products nothing keeps the warps of a
  // consumer together, and one that is late would miss its turn: then a block has one tile.
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
  const int blocks = g.K > 0 ? fewest_teams(order.tiles(), sms) : order.tiles();
  return launch_dependent(kernel<T, TC>, dim3(blocks), dim3(S::THREADS), SMEM_BYTES, stream, maps,
                          out, order, ceil_div(g.K, S::BK));
}
