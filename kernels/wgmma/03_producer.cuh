// wgmma_03_producer: a third warpgroup only starts copies, and gives its registers to the others.
//
// Change: mbarriers say full and empty, as in tma_04_producer_warp, and the loop has no barrier of
//   the whole block. So a warpgroup starts the products of a k tile while those of the previous one
//   still run, and releases a stage when its products have ended: the tensor cores have their next
//   instruction before they need it. A block of 384 threads gets 168 registers a thread. The
//   producer keeps 40 of them, and each consumer takes 232: 128 sums, and room for later steps.
// Limit: C. Each thread writes pairs, 16 bytes of a row, while nothing is multiplied.
// Source: beyond the articles.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/warpgroup_store.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/tile/warpgroup_tile.cuh"

namespace wgmma_03_producer {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64;  // rows of a warpgroup
constexpr int BOX = 64;
constexpr int CONSUMERS = BM / WM, THREADS = (CONSUMERS + 1) * 128;  // warpgroups
constexpr int STAGES = 4, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
using Ring = StageRing<STAGES, STAGE_BYTES>;
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + Ring::BYTES;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  Ring ring(smem_addr(smem + STAGES * STAGE_BYTES));

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int2 tile = tile_at(blockIdx.x, ceil_div(out.M, BM), ceil_div(out.N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;
  // [init]
  if (threadIdx.x == 0) {
    if (K > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    ring.init(CONSUMERS);
  }
  __syncthreads();
  // [/init]

  // [produce]
  if (wg_id == CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 > CONSUMERS * 4 || !elect_one()) return;
    for (int k_tile = 0; k_tile < K; k_tile += BK) {
      ring.wait_empty();
      const uint32_t to_addr = smem_addr(smem) + ring.offset;
      mbarrier_arrive_expect_tx(ring.full_addr(), STAGE_BYTES);
      tma_load_2d(to_addr, &map_a, ring.full_addr(), k_tile, block_m);
#pragma unroll
      for (int j = 0; j < BN; j += BOX)
        tma_load_2d(to_addr + (BM + j) * BK * sizeof(T), &map_b, ring.full_addr(), block_n + j,
                    k_tile);
      ring.next();
    }
    return;
  }
  // [/produce]

  // [consume]
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  // A wait of one warp covers the products of its warpgroup, so one thread speaks for all four.
  auto release = [&](uint32_t empty_addr) {
    if (threadIdx.x % 128 == 0) mbarrier_arrive(empty_addr);
  };
  WarpgroupTile<T, BM, WM, BN> sums(smem_addr(smem), wg_id * WM);
  sums.multiply_tiles(ring, ceil_div(K, BK), release);
  // [/consume]

  // [store]
  const int row = block_m + wg_id * WM;
  scale_sums(out, row, block_n, sums.acc[0]);
  store_sums(out, row, block_n, sums.acc[0]);
  // [/store]
}

}  // namespace wgmma_03_producer

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_03_producer(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_03_producer;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BK == BOX && BN % BOX == 0, "a row of a box is what the swizzle spans");
  static_assert(
      PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= (CONSUMERS + 1) * LAUNCH_REGISTERS,
      "else setmaxnreg waits for ever");
  // [encode]
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, false};
  CUtensorMap map_a, map_b;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, g.N, BK, BOX, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  // [/encode]
  error = allow_shared_memory(kernel<T, TC>, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  return launch(kernel<T, TC>, dim3(ceil_div(g.M, BM) * ceil_div(g.N, BN)), dim3(THREADS),
                SMEM_BYTES, stream, map_a, map_b, out, g.K);
}
