// wgmma_07_deferred: a tile is stored while the next one is multiplied.
//
// Persistent and warp-specialized: a producer warp (TMA, B multicast to the cluster), and two
//   consumer warpgroups (wgmma, then the epilogue).
// Change: the epilogue runs beside the next tile's products. At the end of a tile, a thread packs
//   its 128 sums into 64 registers of 16-bit pairs, and the products of the next tile start at
//   once. During each of that tile's first four k tiles, while the tensor cores are busy, a warp
//   stores 64 columns of the previous tile. 128 + 64 registers and the other live values fit into
//   232. Between two tiles, scaling and packing are left. C in fp32 would need 128 more registers,
//   and is stored as before.
// Limit: power. Reads from DRAM and L2 take energy, and at the power limit the clock falls.
// Source: beyond the articles.
#pragma once
#include <ptx/cluster.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/cluster_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/late_store.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_07_deferred {

// 128x256 a block, four stages, two consumers, clusters of two.
using S = WgmmaShape<128, 256, 4, 2, 2>;

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  S::Ring ring(smem_addr(smem) + S::BARS);

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  // Persistent: of the tiles of the clusters, this one computes every clusters-th.
  const int rows = ceil_div(out.M, S::CLUSTER * S::BM), columns = ceil_div(out.N, S::BN);
  const int rank = cluster_rank(), cluster = blockIdx.x / S::CLUSTER;
  const int clusters = gridDim.x / S::CLUSTER, k_tiles = ceil_div(K, S::BK);
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, k_tiles > 0, out.by_engine);  // by_engine: TMA stores C
    // A stage is full when its bytes and the producer's arrival have come, and empty when each
    // consumer warpgroup of both blocks has arrived: the other block's multicast writes into it,
    // too.
    ring.init(S::CLUSTER * S::CONSUMERS);
  }
  cluster_sync();  // both blocks have their mbarriers
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    setmaxnreg_dec<S::PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 == S::WARPS && elect_one()) {
      for (int t = cluster; t < rows * columns; t += clusters) {
        const int2 tile = tile_at(t, rows, columns);
        for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
          ring.wait_empty();
          mbarrier_arrive_expect_tx(ring.full_addr(), S::STAGE_BYTES);
          load_tiles<S>(maps, smem_addr(smem) + ring.offset, ring.full_addr(),
                        (tile.x * S::CLUSTER + rank) * S::BM, tile.y * S::BN, k_tile * S::BK, rank);
          ring.next();
        }
      }
    }
    __syncwarp();  // the whole warp comes to the cluster's barrier
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
    LateStore<TC, S::BN / 2> late(
        StoreRing<>(smem_addr(smem) + S::OUT + threadIdx.x / 32 * StoreRing<>::BYTES), &maps.c);
    for (int t = cluster; t < rows * columns; t += clusters) {
      uint32_t used_addr = 0;  // of the empty mbarrier of the k tile before
      // Multiplies the k tile in the ring's next stage, and does `meanwhile` beside its products.
      auto multiply = [&](int k_tile, auto meanwhile) {
        ring.wait_full();                     // its TMA loads have arrived
        sums.start(ring.offset, k_tile > 0);  // starts its products, and does not wait for them
        meanwhile();
        wgmma_wait<1>();                     // those of the k tile before, if any, are done,
        if (k_tile > 0) release(used_addr);  // so the producer may refill its stage
        used_addr = ring.empty_addr();
        ring.next();
      };
      int k_tile = 0;
      if constexpr (is_half<TC>) {
        if (k_tiles >= late.PIECES) {
#pragma unroll
          for (; k_tile < late.PIECES; ++k_tile) multiply(k_tile, [&] { late.put(k_tile); });
        } else {
          late.put_all();  // too few k tiles to store it beside them
        }
      }
#pragma unroll 1
      for (; k_tile < k_tiles; ++k_tile) multiply(k_tile, [] {});
      wgmma_wait<0>();
      if (k_tiles > 0) release(used_addr);
      if (k_tiles == 0) sums.clear();
      const int2 tile = tile_at(t, rows, columns);
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

}  // namespace wgmma_07_deferred

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_07_deferred(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_07_deferred;
  static_assert(is_half<T>, "16-bit inputs");
  const Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  GemmMaps maps;
  cudaError_t error = encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B),
                                     out, g.K, g.K, g.N);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  // One block fits on an SM, by its shared memory.
  const int most = device_attribute(cudaDevAttrMultiProcessorCount) / S::CLUSTER;
  const int clusters = min(most, ceil_div(g.M, S::CLUSTER * S::BM) * ceil_div(g.N, S::BN));
  return launch_clusters(kernel<T, TC>, dim3(clusters * S::CLUSTER), dim3(S::CLUSTER),
                         dim3(S::THREADS), S::SMEM_BYTES, stream, maps, out, g.K);
}
