// wgmma_05_persistent: one block an SM, whose producer goes on to the next tile at once.
//
// Change: as many blocks as there are SMs, and each computes every gridDim.x-th tile of C, as in
//   tma_06_persistent. While C is stored, the producer fills all stages for the next tile, and the
//   engine still writes C while that tile is multiplied.
// Limit: reads of the L2. A k tile of 128x256 reads 48 KB for 4.2 MFLOP: 48 bytes in each cycle of
//   the tensor cores. Two blocks with tiles one above the other read the same columns of B, each
//   for itself.
// Source: beyond the articles.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/warpgroup_store.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/tile/warpgroup_tile.cuh"

namespace wgmma_05_persistent {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64;  // rows of a warpgroup
constexpr int BOX = 64;
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
  const int rows = ceil_div(out.M, BM), columns = ceil_div(out.N, BN);
  // [init]
  if (threadIdx.x == 0) {
    if (out.by_engine) tma_prefetch(&map_c);
    if (K > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    ring.init(CONSUMERS);
  }
  __syncthreads();
  // [/init]

  // [produce]
  if (wg_id == CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 > CONSUMERS * 4 || !elect_one()) return;
    for (int t = blockIdx.x; t < rows * columns; t += gridDim.x) {
      const int2 tile = tile_at(t, rows, columns);
      for (int k_tile = 0; k_tile < K; k_tile += BK) {
        ring.wait_empty();
        const uint32_t to_addr = smem_addr(smem) + ring.offset;
        mbarrier_arrive_expect_tx(ring.full_addr(), STAGE_BYTES);
        tma_load_2d(to_addr, &map_a, ring.full_addr(), k_tile, tile.x * BM);
#pragma unroll
        for (int j = 0; j < BN; j += BOX)
          tma_load_2d(to_addr + (BM + j) * BK * sizeof(T), &map_b, ring.full_addr(),
                      tile.y * BN + j, k_tile);
        ring.next();
      }
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
  StoreRing<> store_ring(smem_addr(smem + STAGES * STAGE_BYTES) +
                         threadIdx.x / 32 * StoreRing<>::BYTES);
  for (int t = blockIdx.x; t < rows * columns; t += gridDim.x) {
    sums.multiply_tiles(ring, ceil_div(K, BK), release);
    // [/consume]

    // [store]
    const int2 tile = tile_at(t, rows, columns);
    const int row = tile.x * BM + wg_id * WM, col = tile.y * BN;
    scale_sums(out, row, col, sums.acc[0]);
    store_rows(out, &map_c, store_ring, row, col, sums.acc[0]);
    // [/store]
  }
  store_ring.finish();
}

}  // namespace wgmma_05_persistent

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_05_persistent(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_05_persistent;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BK == BOX && BN % BOX == 0, "a row of a box is what the swizzle spans");
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
  const int most = device_attribute(cudaDevAttrMultiProcessorCount);
  const int blocks = min(most, ceil_div(g.M, BM) * ceil_div(g.N, BN));
  return launch(kernel<T, TC>, dim3(blocks), dim3(THREADS), SMEM_BYTES, stream, map_a, map_b, map_c,
                out, g.K);
}
