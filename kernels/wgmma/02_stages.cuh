// wgmma_02_stages: two warpgroups share 256 columns of B, and four stages are in flight.
//
// Change: a block is two warpgroups, a tile 128x256. Each warpgroup multiplies its own 64 rows by
//   the same 256 columns, the widest wgmma there is. For each k it reads 64 + 256 values of shared
//   memory for 64x256 sums, where 64x128 sums took 64 + 128. Thread 0 asks for a k tile three
//   rounds before it is multiplied.
// Limit: the barrier. All threads meet at a barrier in each k tile: no new products are started
//   until the slower warpgroup has finished, and the tensor cores are idle from its last product to
//   the next one.
// Source: beyond the articles.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>

#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/warpgroup_store.cuh"
#include "../common/tile/warpgroup_tile.cuh"

namespace wgmma_02_stages {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64;  // rows of a warpgroup
constexpr int BOX = 64;
constexpr int THREADS = BM / WM * 128;
constexpr int STAGES = 4, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
constexpr int SMEM_BYTES = STAGES * (STAGE_BYTES + 8);       // and an mbarrier each

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t full_addr = smem_addr(smem + STAGES * STAGE_BYTES);

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int2 tile = tile_at(blockIdx.x, ceil_div(out.M, BM), ceil_div(out.N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;

  // [init]
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(full_addr + i * 8, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  // [/init]

  // [load]
  auto load_tiles = [&](int k_tile, int stage) {
    if (threadIdx.x != 0 || k_tile >= K) return;
    const uint32_t bar_addr = full_addr + stage * 8;
    const uint32_t to_addr = smem_addr(smem + stage * STAGE_BYTES);
    mbarrier_arrive_expect_tx(bar_addr, STAGE_BYTES);
    tma_load_2d(to_addr, &map_a, bar_addr, k_tile, block_m);
#pragma unroll
    for (int j = 0; j < BN; j += BOX)
      tma_load_2d(to_addr + (BM + j) * BK * sizeof(T), &map_b, bar_addr, block_n + j, k_tile);
  };
  // [/load]

  WarpgroupTile<T, BM, WM, BN> sums(smem_addr(smem), wg_id * WM);
  if (K == 0) sums.clear();
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) load_tiles(i * BK, i);
  int stage = 0, free_stage = STAGES - 1, parity = 0;
#pragma unroll 1
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [multiply]
    load_tiles(k_tile + (STAGES - 1) * BK, free_stage);
    mbarrier_wait(full_addr + stage * 8, parity);
    sums.start(stage * STAGE_BYTES, k_tile > 0);
    wgmma_wait<0>();
    __syncthreads();  // both warpgroups have read this stage: it is free
    // [/multiply]
    free_stage = stage;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    if (stage == 0) parity ^= 1;
  }

  // [store]
  const int row = block_m + wg_id * WM;
  scale_sums(out, row, block_n, sums.acc[0]);
  store_sums(out, row, block_n, sums.acc[0]);
  // [/store]
}

}  // namespace wgmma_02_stages

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_02_stages(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_02_stages;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BK == BOX && BN % BOX == 0, "a row of a box is what the swizzle spans");
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
