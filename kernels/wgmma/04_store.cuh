// wgmma_04_store: C leaves through shared memory by the copy engine, each warp for itself.
//
// Change: a warp packs 64 columns of its 16 rows to 16 bits, stmatrix writes them to shared memory,
//   swizzled, and the engine copies them to C in whole lines of 128 bytes. A warp has two buffers:
//   while the engine reads one, the warp fills the other. C in fp32 is stored by the threads, as
//   before: four lanes fill a sector, and shared memory has no room for larger buffers.
// Limit: a block has one tile. While C is stored, this SM multiplies nothing, and the next block
//   begins with empty stages.
// Source: beyond the articles.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/smem.cuh>
#include <ptx/stmatrix.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/warpgroup_store.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/tile/swizzle.cuh"
#include "../common/tile/warpgroup_tile.cuh"

namespace wgmma_04_store {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64;  // rows of a warpgroup
constexpr int BOX = 64;
constexpr int CONSUMERS = BM / WM, THREADS = (CONSUMERS + 1) * 128;  // warpgroups
constexpr int STAGES = 4, STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
using Ring = StageRing<STAGES, STAGE_BYTES>;
constexpr int BUFFERS = 2, PIECE_ROWS = 16, PIECE_BYTES = PIECE_ROWS * BOX * 2;  // of C, a warp
constexpr int OUT_BYTES = CONSUMERS * 4 * BUFFERS * PIECE_BYTES;
// The stages, the buffers of C, and the mbarriers.
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + OUT_BYTES + Ring::BYTES;

// A warp's 16 rows of scaled sums, 64 columns at a time. buffers_addr: of the warp's, aligned to
// 1024. row, col: of the first element. map: of C, in boxes of 16x64.
template <class TC>
__device__ __forceinline__ void store_by_engine(const CUtensorMap* map, uint32_t buffers_addr,
                                                int row, int col, const float (&acc)[BN / 2]) {
  // [engine]
  // A 16x16 is four 8x8 for stmatrix; lane l names row l % 16, in the left half for l < 16.
  const int lane_id = threadIdx.x % 32;
  const int at = swizzle<3, 3>(lane_id % 16 * BOX + lane_id / 16 * 8);
#pragma unroll
  for (int n = 0; n < BN; n += BOX) {
    if (lane_id == 0) bulk_wait_read<BUFFERS - 1>();  // the engine has read this buffer
    __syncwarp();
    const uint32_t piece_addr = buffers_addr + n / BOX % BUFFERS * PIECE_BYTES;
#pragma unroll
    for (int j = 0; j < BOX; j += 16) {
      uint32_t pairs[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        pairs[i] = pack2<TC>(acc[(n + j) / 2 + 2 * i], acc[(n + j) / 2 + 2 * i + 1]);
      stmatrix_x4(piece_addr + (at ^ j) * 2, pairs);
    }
    fence_proxy_async();  // what this lane wrote, the engine sees
    __syncwarp();         // and that of all lanes is written
    if (lane_id == 0) {
      tma_store_2d(map, piece_addr, col + n, row);
      bulk_commit();
    }
  }
  if (lane_id == 0) bulk_wait_read<0>();  // shared memory lasts until the engine has read it
  // [/engine]
}

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  Ring ring(smem_addr(smem + STAGES * STAGE_BYTES + OUT_BYTES));

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int2 tile = tile_at(blockIdx.x, ceil_div(out.M, BM), ceil_div(out.N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;
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
  if constexpr (is_half<TC>) {
    const int warp_id = threadIdx.x / 32;
    const uint32_t to_addr =
        smem_addr(smem + STAGES * STAGE_BYTES) + warp_id * BUFFERS * PIECE_BYTES;
    store_by_engine<TC>(&map_c, to_addr, row + warp_id % 4 * PIECE_ROWS, block_n, sums.acc[0]);
  } else {
    store_sums(out, row, block_n, sums.acc[0]);
  }
  // [/store]
}

}  // namespace wgmma_04_store

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_04_store(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_04_store;
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
  error = encode_output(&map_c, out, PIECE_ROWS, BOX);
  if (error != cudaSuccess) return error;
  // [/encode]
  error = allow_shared_memory(kernel<T, TC>, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  return launch(kernel<T, TC>, dim3(ceil_div(g.M, BM) * ceil_div(g.N, BN)), dim3(THREADS),
                SMEM_BYTES, stream, map_a, map_b, map_c, out, g.K);
}
