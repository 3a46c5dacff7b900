// wgmma_10_in_step: all clusters begin a wave together.
//
// Change: before it asks for a tile, a cluster's producer adds 1 to a counter and waits until all
//   clusters have come to this wave. The stages in flight hide the wait, if their products last
//   longer than it does. So clusters that share rows and columns are at the same k, and find in the
//   L2 what another one has read. It matters where a tile is long, as at 16384.
// Limit: the tile. It reads 32 bytes from the L2 in each cycle of an SM, and that costs energy.
// Source: beyond the articles.
#pragma once
#include <ptx/cluster.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/cluster_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/order/last_wave.cuh"
#include "../common/order/snake.cuh"
#include "../common/store/late_store.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_10_in_step {

// 128x256 a block, four stages, two consumers, clusters of two; strips of eight cluster tiles.
using S = WgmmaShape<128, 256, 4, 2, 2>;
constexpr int STRIP = 8;
constexpr int PRICE = 10;              // of a piece, in k tiles of time
constexpr int PIECE = 16 * S::BN / 4;  // a warp's, in groups of four floats

inline Snake order_of(const GemmArgs& g) {
  return Snake(ceil_div(g.M, S::CLUSTER * S::BM), ceil_div(g.N, S::BN), STRIP);
}
// One block fits on an SM, by its shared memory.
inline LastWave share_of(const GemmArgs& g) {
  return LastWave(order_of(g).tiles(), ceil_div(g.K, S::BK),
                  device_attribute(cudaDevAttrMultiProcessorCount) / S::CLUSTER, PRICE);
}
// Waves that begin together: in a few, clusters do not come far apart.
__host__ __device__ inline int steps(const LastWave& share) {
  return share.waves < 8 ? 0 : share.waves;
}
// Warps' parts of the tiles that are cut, with a counter each; and a counter for each of the waves.
inline int cut_parts(const LastWave& share) { return share.rest * S::CLUSTER * S::WARPS; }
inline size_t counters_bytes(const LastWave& share) {
  return (cut_parts(share) + steps(share)) * sizeof(int);
}

// [together]
// One thread of each team. Teams that another kernel keeps from running would be waited for in
// vain: it is about speed only, so after some thousand looks the thread goes on.
__device__ void come_together(int* come, int teams) {
  atomicAdd(come, 1);
  for (int looks = 0; looks < 4096 && *static_cast<volatile int*>(come) < teams; ++looks) {
  }
}
// [/together]

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, Snake order, LastWave share,
           float4* pieces, int* arrived, int* begun) {
  extern __shared__ __align__(1024) unsigned char smem[];
  S::Ring ring(smem_addr(smem) + S::BARS);

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = cluster_rank(), team = blockIdx.x / S::CLUSTER;
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, share.depth > 0, out.by_engine);
    ring.init(S::CLUSTER * S::CONSUMERS);
  }
  cluster_sync();  // both blocks have their mbarriers
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    setmaxnreg_dec<S::PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 == S::WARPS && elect_one()) {
      const int works = share.count(team);
      for (int i = 0; i < works; ++i) {
        const Work work = share.work(team, i);
        const int2 tile = order[work.tile];
        // [step]
        if (rank == 0 && 0 < i && i < steps(share)) come_together(begun + i, share.teams);
        // [/step]
        for (int j = work.begin; j < work.end; ++j) {
          const int k_tile = i % 2 ? work.begin + work.end - 1 - j : j;  // there and back
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
    // The same for all lanes, which the compiler does not see.
    const int works = __shfl_sync(0xffffffffu, share.count(team), 0);
    for (int i = 0; i < works; ++i) {
      const Work work = share.work(team, i);
      const int depth = __shfl_sync(0xffffffffu, work.end - work.begin, 0);
      sums.template multiply_tiles<is_half<TC> ? late.PIECES : 0>(
          ring, depth, release, [&](int piece) { late.put(piece); });
      // [/consume]
      // [fixup]
      if (depth < share.depth) {
        const int lane_id = threadIdx.x % 32;
        const int part = (share.cut_tile(work) * S::CLUSTER + rank) * S::WARPS + threadIdx.x / 32;
        if (!join_pieces(sums.all(), pieces + (size_t)part * share.slots() * PIECE + lane_id,
                         arrived + part, share.piece(work, team), share.pieces(work), lane_id))
          continue;
      }
      // [/fixup]
      // [store]
      const int2 tile = order[work.tile];
      const int row = (tile.x * S::CLUSTER + rank) * S::BM + wg_id * S::WM, col = tile.y * S::BN;
      scale_sums(out, row, col, sums.acc[0]);
      if constexpr (is_half<TC>)
        late.take(sums.acc[0], row, col);
      else
        store_sums(out, row, col, sums.acc[0]);
      // [/store]
    }
    if constexpr (is_half<TC>) late.put_all();
    late.ring.finish();
  }
  cluster_sync();  // no block ends while the other still arrives at its mbarriers
}

}  // namespace wgmma_10_in_step

// The pieces of each tile that is cut, and the counters.
template <class T, class TC>
inline size_t workspace_wgmma_10_in_step(const GemmArgs& g) {
  using namespace wgmma_10_in_step;
  const LastWave share = share_of(g);
  return (size_t)cut_parts(share) * share.slots() * PIECE * sizeof(float4) + counters_bytes(share);
}

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_10_in_step(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_10_in_step;
  static_assert(is_half<T>, "16-bit inputs");
  const Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  GemmMaps maps;
  cudaError_t error = encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B),
                                     out, g.K, g.K, g.N);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const LastWave share = share_of(g);
  float4* pieces = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(pieces + (size_t)cut_parts(share) * share.slots() * PIECE);
  if (counters_bytes(share) > 0) error = cudaMemsetAsync(arrived, 0, counters_bytes(share), stream);
  if (error != cudaSuccess) return error;
  return launch_clusters(kernel<T, TC>, dim3(share.teams * S::CLUSTER), dim3(S::CLUSTER),
                         dim3(S::THREADS), S::SMEM_BYTES, stream, maps, out, order_of(g), share,
                         pieces, arrived, arrived + cut_parts(share));
}
