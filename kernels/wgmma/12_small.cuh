// wgmma_12_small: tiles of 64x128 for small products, and a launch that begins early.
//
// Change: at 1024, C has 32 tiles of 128x256, for 132 SMs. It has 128 tiles of 64x128, one a block:
//   one consumer warpgroup, and eight stages, half of all k tiles. What is left is the launch. With
//   programmatic dependent launch a grid begins while the previous one still runs: it makes its
//   mbarriers and fetches its tensor maps, then waits for the other's end before it reads memory.
// Limit: latency: the first stage's way from memory, 16 k tiles, and the store of C.
// Source: beyond the articles.
#pragma once
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/order/block_order.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_12_small {

// 64x128 a block, eight stages, one consumer, no cluster.
using S = WgmmaShape<64, 128, 8, 1, 1>;

template <class T, class TC>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, Output<TC> out, int depth) {
  extern __shared__ __align__(1024) unsigned char smem[];
  S::Ring ring(smem_addr(smem) + S::BARS);

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int2 tile = tile_at(blockIdx.x, ceil_div(out.M, S::BM), ceil_div(out.N, S::BN));
  const int row = tile.x * S::BM, col = tile.y * S::BN;
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, depth > 0, out.by_engine);
    ring.init(S::CONSUMERS);
  }
  __syncthreads();
  grid_dependency_wait();    // A, B and C are as the grid before has left them
  grid_launch_dependents();  // the next one may begin, and wait here
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    if (threadIdx.x / 32 != S::WARPS || !elect_one()) return;
    for (int k_tile = 0; k_tile < depth; ++k_tile) {
      ring.wait_empty();
      mbarrier_arrive_expect_tx(ring.full_addr(), S::STAGE_BYTES);
      load_tiles<S>(maps, smem_addr(smem) + ring.offset, ring.full_addr(), row, col, k_tile * S::BK,
                    0);
      ring.next();
    }
    return;
  }
  // [/produce]

  // [consume]
  auto release = [&](uint32_t empty_addr) {
    if (threadIdx.x == 0) mbarrier_arrive(empty_addr);
  };
  static_assert(S::WM == 64, "acc[0] is all that a warpgroup has");
  WarpgroupTile<T, S::BM, S::WM, S::BN> sums(smem_addr(smem), 0);
  StoreRing<> store_ring(smem_addr(smem) + S::OUT + threadIdx.x / 32 * StoreRing<>::BYTES);
  sums.multiply_tiles(ring, depth, release);
  // [/consume]
  scale_sums(out, row, col, sums.acc[0]);
  store_rows(out, &maps.c, store_ring, row, col, sums.acc[0]);
  store_ring.finish();
}

}  // namespace wgmma_12_small

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_12_small(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_12_small;
  static_assert(is_half<T>, "16-bit inputs");
  const Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  GemmMaps maps;
  cudaError_t error = encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B),
                                     out, g.K, g.K, g.N);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  return launch_dependent(kernel<T, TC>, dim3(ceil_div(g.M, S::BM) * ceil_div(g.N, S::BN)),
                          dim3(S::THREADS), S::SMEM_BYTES, stream, maps, out, ceil_div(g.K, S::BK));
}
