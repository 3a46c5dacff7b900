// wgmma_08_order: an order of the tiles that reads less from DRAM, so that the clock falls less.
//
// Change: which cluster computes which tile, and when; the products are as before. As few clusters
//   as finish in the same number of waves: 64 of 66 at 4096, so that those which share rows and
//   columns stay together. The strips, eight rows of cluster tiles, now run to the right and back.
//   In every second wave k runs backwards: what was read last is still in the L2, and comes first.
//   C leaves the L2 before A and B. A multiplication finds a tile's place, and no division.
// Limit: SMs without work. At 8192, 64 of 66 clusters fill the 16 waves that 1024 tiles need.
// Source: beyond the articles.
#pragma once
#include <ptx/cluster.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/cluster_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/order/snake.cuh"
#include "../common/store/late_store.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_08_order {

// 128x256 a block, four stages, two consumers, clusters of two; strips of eight cluster tiles.
using S = WgmmaShape<128, 256, 4, 2, 2>;
constexpr int STRIP = 8;

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, Snake order, int k_tiles) {
  extern __shared__ __align__(1024) unsigned char smem[];
  S::Ring ring(smem_addr(smem) + S::BARS);

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = cluster_rank(), cluster = blockIdx.x / S::CLUSTER;
  const int clusters = gridDim.x / S::CLUSTER;
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, k_tiles > 0, out.by_engine);
    ring.init(S::CLUSTER * S::CONSUMERS);
  }
  cluster_sync();  // both blocks have their mbarriers
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    setmaxnreg_dec<S::PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 == S::WARPS && elect_one()) {
      bool backwards = false;
      for (int t = cluster; t < order.tiles(); t += clusters, backwards = !backwards) {
        const int2 tile = order[t];
        for (int i = 0; i < k_tiles; ++i) {
          const int k_tile = backwards ? k_tiles - 1 - i : i;
          ring.wait_empty();
          mbarrier_arrive_expect_tx(ring.full_addr(), S::STAGE_BYTES);
          load_tiles<S>(maps, smem_addr(smem) + ring.offset, ring.full_addr(),
                        (tile.x * S::CLUSTER + rank) * S::BM, tile.y * S::BN, k_tile * S::BK, rank);
          ring.next();
        }
      }
    }
    __syncwarp();
    // [/produce]
  } else {
    // [consume]
    setmaxnreg_inc<S::CONSUMER_REGISTERS>();
    // Threads 0 and 1 of a warpgroup each arrive at one block's empty mbarrier.
    auto release = [&](uint32_t empty_addr) {
      if (threadIdx.x % 128 < S::CLUSTER) mbarrier_arrive_remote(empty_addr, threadIdx.x % 128);
    };
    static_assert(S::WM == 64, "acc[0] is all that a warpgroup has");
    WarpgroupTile<T, S::BM, S::WM, S::BN> sums(smem_addr(smem), wg_id * S::WM);
    using EvictFirst = StoreRing<true>;  // C leaves the L2 before A and B
    LateStore<TC, S::BN / 2, EvictFirst> late(
        EvictFirst(smem_addr(smem) + S::OUT + threadIdx.x / 32 * EvictFirst::BYTES), &maps.c);
    for (int t = cluster; t < order.tiles(); t += clusters) {
      sums.template multiply_tiles<is_half<TC> ? late.PIECES : 0>(
          ring, k_tiles, release, [&](int piece) { late.put(piece); });
      const int2 tile = order[t];
      const int row = (tile.x * S::CLUSTER + rank) * S::BM + wg_id * S::WM, col = tile.y * S::BN;
      scale_sums(out, row, col, sums.acc[0]);
      if constexpr (is_half<TC>)
        late.take(sums.acc[0], row, col);
      else
        store_sums(out, row, col, sums.acc[0]);
    }
    // [/consume]
    if constexpr (is_half<TC>) late.put_all();
    late.ring.finish();
  }
  cluster_sync();  // no block ends while the other still arrives at its mbarriers
}

}  // namespace wgmma_08_order

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_08_order(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_08_order;
  static_assert(is_half<T>, "16-bit inputs");
  const Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  GemmMaps maps;
  cudaError_t error = encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B),
                                     out, g.K, g.K, g.N);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const Snake order(ceil_div(g.M, S::CLUSTER * S::BM), ceil_div(g.N, S::BN), wgmma_08_order::STRIP);
  // One block fits on an SM, by its shared memory.
  const int most = device_attribute(cudaDevAttrMultiProcessorCount) / S::CLUSTER;
  const int blocks = fewest_teams(order.tiles(), most) * S::CLUSTER;
  return launch_clusters(kernel<T, TC>, dim3(blocks), dim3(S::CLUSTER), dim3(S::THREADS),
                         S::SMEM_BYTES, stream, maps, out, order, ceil_div(g.K, S::BK));
}
