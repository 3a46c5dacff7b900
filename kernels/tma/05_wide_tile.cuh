// tma_05_wide_tile: 256x128 of C a block, 64x64 a warp, and most registers for those who multiply.
//
// Change: as in hgemm_18_wide_tile, a warp of 64x64 reads 16 fragments' worth of shared memory for
//   32 products, not 12 for 16, and loads fragments one step ahead: 128 sums, 64 registers of
//   fragments. A block of 12 warps gets 168 registers a thread at launch, for it is all that 65,536
//   give. So the producer is a warpgroup: it hands back all but 40 of its registers, and the two
//   that multiply take 232. Each warp stores its part of C from shared memory of its own, when it
//   is done; for beta, the engine brings the old part there.
// Limit: an SM has one block, and between two blocks the tensor cores wait.
// Source: beyond the articles. CUTLASS' warp-specialised kernels, with mma.sync.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/store/warp_store.cuh"
#include "../common/tile/warp_tile.cuh"

namespace tma_05_wide_tile {

constexpr int BM = 256, BN = 128, BK = 64;
constexpr int WM = 64, WN = 64;
constexpr int CONSUMERS = 256, PRODUCERS = 128, THREADS = CONSUMERS + PRODUCERS;
constexpr int STAGES = 3, STAGE_BYTES = BK * (BM + BN) * 2;   // a tile of A, then the boxes of B
constexpr int WARPS = CONSUMERS / 32, PART_BYTES = WM * 128;  // where a warp puts its part of C
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
using Ring = StageRing<STAGES, STAGE_BYTES>;
// The stages, the parts, and the mbarriers: of the ring, and one of each part.
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + WARPS * (PART_BYTES + 8) + Ring::BYTES;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, Output<TC> out, int K) {
  extern __shared__ __align__(1024) unsigned char smem[];
  unsigned char* parts = smem + STAGES * STAGE_BYTES;
  const uint32_t part_bars = smem_addr(parts + WARPS * PART_BYTES);
  Ring ring(part_bars + WARPS * 8);

  const int warp_id = threadIdx.x / 32;
  // [init]
  if (threadIdx.x == 0) {
    if (out.by_engine) tma_prefetch(&map_c);
    if (K > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    for (int i = 0; i < WARPS; ++i) mbarrier_init(part_bars + i * 8, 1);
    ring.init(WARPS);
  }
  __syncthreads();
  // [/init]
  auto own_tile = [&] { return tile_at(blockIdx.x, ceil_div(out.M, BM), ceil_div(out.N, BN)); };

  // [produce]
  if (warp_id >= WARPS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp_id > WARPS || !elect_one()) return;
    const int2 tile = own_tile();
    for (int k_tile = 0; k_tile < K; k_tile += BK) {
      ring.wait_empty();
      const uint32_t to_addr = smem_addr(smem) + ring.offset;
      mbarrier_arrive_expect_tx(ring.full_addr(), STAGE_BYTES);
      tma_load_2d(to_addr, &map_a, ring.full_addr(), k_tile, tile.x * BM);
#pragma unroll
      for (int j = 0; j < BN; j += LINE)
        tma_load_2d(to_addr + (BM + j) * LINE * sizeof(T), &map_b, ring.full_addr(),
                    tile.y * BN + j, k_tile);
      ring.next();
    }
    return;
  }
  // [/produce]

  // [consume]
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  const int lane_id = threadIdx.x % 32;
  const int m = warp_id / (BN / WN) * WM, n = warp_id % (BN / WN) * WN;
  WarpTile<T, BM, WM, WN> sums(smem_addr(smem), m, n, lane_id);
  sums.clear();
  sums.multiply_tiles(ring, ceil_div(K, BK), lane_id);
  // [/consume]

  // [store]
  const int2 tile = own_tile();
  uint32_t part_parity = 0;
  store_part<WM, WN>(out, &map_c, reinterpret_cast<float*>(parts + warp_id * PART_BYTES),
                     part_bars + warp_id * 8, part_parity, tile.x * BM + m, tile.y * BN + n,
                     lane_id, sums.acc);
  if (lane_id == 0) bulk_wait_read<0>();  // shared memory lasts until the engine has read it
  // [/store]
}

}  // namespace tma_05_wide_tile

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_tma_05_wide_tile(const GemmArgs& g, cudaStream_t stream) {
  using namespace tma_05_wide_tile;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(WARPS == (BM / WM) * (BN / WN), "one warp per 64x64 of the tile");
  static_assert(BK == LINE && BN % LINE == 0, "a row of a box is what the swizzle spans");
  static_assert(
      PRODUCERS * PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= THREADS * LAUNCH_REGISTERS,
      "else setmaxnreg waits for ever");
  static_assert(STAGE_BYTES % 1024 == 0 && PART_BYTES % 1024 == 0, "the swizzle's pattern");
  // [encode]
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  Output<TC> out = {static_cast<TC*>(g.C), g.M, g.N, g.alpha, g.beta, is_half<TC>};
  CUtensorMap map_a, map_b, map_c;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, g.K, BM, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, g.N, BK, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_output(&map_c, out, WM, WN);
  if (error != cudaSuccess) return error;
  // [/encode]
  error = allow_shared_memory(kernel<T, TC>, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  return launch(kernel<T, TC>, dim3(ceil_div(g.M, BM) * ceil_div(g.N, BN)), dim3(THREADS),
                SMEM_BYTES, stream, map_a, map_b, map_c, out, g.K);
}
