// wgmma_06_cluster: two blocks, one above the other, share the columns of B that both need.
//
// Change: blocks run in clusters of two, on tiles one above the other. Each asks for half of the
//   boxes of B, and the engine writes them into both blocks: for 256x256 sums, a k tile reads 64 KB
//   from the L2 instead of 96. A stage may be refilled when the consumers of both blocks have read
//   it, so they arrive at both blocks' mbarriers. They have only read, so they need not release to
//   the cluster: an arrival with .release.cluster is a fence of the whole GPU, in every k tile.
// Limit: the end of a tile. From its last products to the first ones of the next tile, the
//   warpgroups pack and store, and the tensor cores are idle.
// Source: beyond the articles.
#pragma once
#include <ptx/cluster.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/cluster_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/warpgroup_store.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/tile/warpgroup_tile.cuh"

namespace wgmma_06_cluster {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64;  // rows of a warpgroup
constexpr int BOX = 64, BOX_BYTES = BK * BOX * 2;
constexpr int CLUSTER = 2;  // blocks, on tiles below each other
constexpr int CONSUMERS = BM / WM, THREADS = (CONSUMERS + 1) * 128;  // warpgroups
constexpr int STAGES = 4, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
using Ring = StageRing<STAGES, STAGE_BYTES>;
// The stages, the buffers of C, and the mbarriers.
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + CONSUMERS * 4 * StoreRing<>::BYTES + Ring::BYTES;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  Ring ring(smem_addr(smem + SMEM_BYTES - Ring::BYTES));

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  // Of a cluster's tiles.
  const int rows = ceil_div(out.M, CLUSTER * BM), columns = ceil_div(out.N, BN);
  const int rank = cluster_rank(), cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
  // [init]
  if (threadIdx.x == 0) {
    if (out.by_engine) tma_prefetch(&map_c);
    if (K > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    ring.init(CLUSTER * CONSUMERS);
  }
  cluster_sync();  // both blocks have their mbarriers
  // [/init]

  // [produce]
  if (wg_id == CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 == CONSUMERS * 4 && elect_one()) {
      for (int t = cluster; t < rows * columns; t += clusters) {
        const int2 tile = tile_at(t, rows, columns);
        for (int k_tile = 0; k_tile < K; k_tile += BK) {
          ring.wait_empty();
          const uint32_t to_addr = smem_addr(smem) + ring.offset;
          mbarrier_arrive_expect_tx(ring.full_addr(), STAGE_BYTES);
          tma_load_2d(to_addr, &map_a, ring.full_addr(), k_tile, (tile.x * CLUSTER + rank) * BM);
          // This block's half of the boxes of B, into both.
#pragma unroll
          for (int j = 0; j < BN / BOX / CLUSTER; ++j) {
            const int box = rank * (BN / BOX / CLUSTER) + j;
            tma_load_2d_multicast(to_addr + BM * BK * 2 + box * BOX_BYTES, &map_b, ring.full_addr(),
                                  tile.y * BN + box * BOX, k_tile, (1 << CLUSTER) - 1);
          }
          ring.next();
        }
      }
    }
    __syncwarp();
    // [/produce]
  } else {
    // [consume]
    setmaxnreg_inc<CONSUMER_REGISTERS>();
    // Threads 0 and 1 of a warpgroup each arrive at one block's empty mbarrier.
    auto release = [&](uint32_t empty_addr) {
      if (threadIdx.x % 128 < CLUSTER) mbarrier_arrive_remote(empty_addr, threadIdx.x % 128);
    };
    WarpgroupTile<T, BM, WM, BN> sums(smem_addr(smem), wg_id * WM);
    StoreRing<> store_ring(smem_addr(smem + STAGES * STAGE_BYTES) +
                           threadIdx.x / 32 * StoreRing<>::BYTES);
    for (int t = cluster; t < rows * columns; t += clusters) {
      sums.multiply_tiles(ring, ceil_div(K, BK), release);
      // [/consume]

      // [store]
      const int2 tile = tile_at(t, rows, columns);
      const int row = (tile.x * CLUSTER + rank) * BM + wg_id * WM, col = tile.y * BN;
      scale_sums(out, row, col, sums.acc[0]);
      store_rows(out, &map_c, store_ring, row, col, sums.acc[0]);
      // [/store]
    }
    store_ring.finish();
  }
  cluster_sync();  // no block ends while the other still arrives at its mbarriers
}

}  // namespace wgmma_06_cluster

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_06_cluster(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_06_cluster;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BK == BOX && BN % (CLUSTER * BOX) == 0, "a row of a box is what the swizzle spans");
  static_assert(
      PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= (CONSUMERS + 1) * LAUNCH_REGISTERS,
      "else setmaxnreg waits for ever");
  // [encode]
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  CUtensorMap map_a, map_b, map_c;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, g.N, BK, BOX, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_output(&map_c, out, 16, BOX);
  if (error != cudaSuccess) return error;
  // [/encode]
  error = allow_shared_memory(kernel<T, TC>, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  // One block fits on an SM, by its shared memory.
  const int most = device_attribute(cudaDevAttrMultiProcessorCount) / CLUSTER;
  const int clusters = min(most, ceil_div(g.M, CLUSTER * BM) * ceil_div(g.N, BN));
  return launch_clusters(kernel<T, TC>, dim3(clusters * CLUSTER), dim3(CLUSTER), dim3(THREADS),
                         SMEM_BYTES, stream, map_a, map_b, map_c, out, g.K);
}
