// wgmma_09_stream_k: the tiles of the last wave are cut along k and shared, at the end.
//
// Change: at 8192, 34 of 66 clusters would have a sixteenth tile, and the others none. Here those
//   tiles are cut along k, as in tma_07_stream_k, but they come last and not first: clusters that
//   begin together read their parts of A and B at the same time, and one read of DRAM serves them.
//   Each warp leaves its sums of a piece in the workspace; the last one to arrive adds them up.
// Price: the sums of a piece are written, read and added, which takes as long as several k tiles.
//   At 4096, cutting could save six of 256 tiles, which is less, so tiles stay whole.
// Limit: nothing keeps the clusters together. The longer a tile takes, the further they drift apart
//   along k, and the data that they share has left the L2 before the last one reads it.
// Source: beyond the articles. M. Osama et al.: Stream-K, PPoPP 2023.
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

namespace wgmma_09_stream_k {

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
// Warps' parts of the tiles that are cut.
inline int cut_parts(const LastWave& share) { return share.rest * S::CLUSTER * S::WARPS; }

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, Snake order, LastWave share,
           float4* pieces, int* arrived) {
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

}  // namespace wgmma_09_stream_k

// The pieces of each tile that is cut, and a counter for each warp's part of it.
template <class T, class TC>
inline size_t workspace_wgmma_09_stream_k(const GemmArgs& g) {
  using namespace wgmma_09_stream_k;
  const LastWave share = share_of(g);
  return cut_parts(share) * (share.slots() * PIECE * sizeof(float4) + sizeof(int));
}

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_09_stream_k(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_09_stream_k;
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
  if (share.rest > 0) error = cudaMemsetAsync(arrived, 0, cut_parts(share) * sizeof(int), stream);
  if (error != cudaSuccess) return error;
  return launch_clusters(kernel<T, TC>, dim3(share.teams * S::CLUSTER), dim3(S::CLUSTER),
                         dim3(S::THREADS), S::SMEM_BYTES, stream, maps, out, order_of(g), share,
                         pieces, arrived);
}
