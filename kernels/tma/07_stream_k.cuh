// tma_07_stream_k: tiles of an incomplete wave are cut along k, where that pays.
//
// Change: 8192 has 2048 tiles, 15 waves of 132 and 68 more, so 68 blocks have 16 tiles to compute,
//   the others 15. Here the 68 owners leave the last 57 of their 128 k tiles to 63 of the others,
//   in equal stretches; so all are done at about the same time. A block leaves the sums of its
//   piece in the workspace, and the last one to arrive at a tile adds them up: each warp its part,
//   in the order of k, so the result does not depend on who was last.
// Price: 128 KB written for a piece and as much read, some 6 k tiles of time when all blocks do it
//   at once. At 4096 cutting could save 7 k tiles of 256, and tiles stay whole.
// Limit: mma.sync, which has two thirds of wgmma's rate, and power: under load the clock falls.
// Source: beyond the articles. M. Osama et al.: Stream-K, PPoPP 2023.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/order/block_order.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/order/stream_k.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/store/warp_store.cuh"
#include "../common/tile/warp_tile.cuh"

namespace tma_07_stream_k {

constexpr int BM = 256, BN = 128, BK = 64;
constexpr int WM = 64, WN = 64;
constexpr int CONSUMERS = 256, PRODUCERS = 128, THREADS = CONSUMERS + PRODUCERS;
constexpr int STAGES = 3, STAGE_BYTES = BK * (BM + BN) * 2;   // a tile of A, then the boxes of B
constexpr int WARPS = CONSUMERS / 32, PART_BYTES = WM * 128;  // where a warp puts its part of C
constexpr int PIECE = WM * WN / 4;                            // a warp's, in groups of four floats
constexpr int PRICE = 6;                                      // of a piece, in k tiles of time
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
using Ring = StageRing<STAGES, STAGE_BYTES>;
// The stages, the parts, and the mbarriers: of the ring, and one of each part.
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + WARPS * (PART_BYTES + 8) + Ring::BYTES;

// One block fits on an SM, by its shared memory.
inline Schedule schedule(const GemmArgs& g) {
  return Schedule(ceil_div(g.M, BM) * ceil_div(g.N, BN), ceil_div(g.K, BK),
                  device_attribute(cudaDevAttrMultiProcessorCount), PRICE);
}

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, Output<TC> out, Schedule share,
           float4* pieces, int* arrived) {
  extern __shared__ __align__(1024) unsigned char smem[];
  unsigned char* parts = smem + STAGES * STAGE_BYTES;
  const uint32_t part_bars = smem_addr(parts + WARPS * PART_BYTES);
  Ring ring(part_bars + WARPS * 8);

  const int warp_id = threadIdx.x / 32;
  // [init]
  if (threadIdx.x == 0) {
    if (out.by_engine) tma_prefetch(&map_c);
    if (share.depth > 0) tma_prefetch(&map_a), tma_prefetch(&map_b);
    for (int i = 0; i < WARPS; ++i) mbarrier_init(part_bars + i * 8, 1);
    ring.init(WARPS);
  }
  __syncthreads();
  // [/init]

  // [produce]
  if (warp_id >= WARPS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp_id > WARPS || !elect_one()) return;
    const int rows = ceil_div(out.M, BM), columns = ceil_div(out.N, BN);
    const Queue queue(share);
    for (int i = 0; i < queue.count(); ++i) {
      const Work work = queue[i];
      const int2 tile = tile_at(work.tile, rows, columns);
      for (int k_tile = work.begin * BK; k_tile < work.end * BK; k_tile += BK) {
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
    }
    return;
  }
  // [/produce]

  // [consume]
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  const int lane_id = threadIdx.x % 32;
  const int rows = ceil_div(out.M, BM), columns = ceil_div(out.N, BN);
  const int m = warp_id / (BN / WN) * WM, n = warp_id % (BN / WN) * WN;
  WarpTile<T, BM, WM, WN> sums(smem_addr(smem), m, n, lane_id);
  uint32_t part_parity = 0;
  const Queue queue(share);
  // The same for all lanes, which the compiler does not see.
  const int works = __shfl_sync(0xffffffffu, queue.count(), 0);
  for (int i = 0; i < works; ++i) {
    const Work work = queue[i];
    const int depth = __shfl_sync(0xffffffffu, work.end - work.begin, 0);
    sums.clear();
    sums.multiply_tiles(ring, depth, lane_id);
    // [/consume]

    // [fixup]
    if (depth < share.depth) {
      const int count = share.pieces(work.tile), own = share.piece(work);
      const size_t part = (size_t)work.tile * WARPS + warp_id;
      if (!add_pieces(sums.acc, pieces + part * share.slots() * PIECE + lane_id, arrived + part,
                      own, count, lane_id))
        continue;
    }
    // [/fixup]

    // [store]
    const int2 tile = tile_at(work.tile, rows, columns);
    store_part<WM, WN>(out, &map_c, reinterpret_cast<float*>(parts + warp_id * PART_BYTES),
                       part_bars + warp_id * 8, part_parity, tile.x * BM + m, tile.y * BN + n,
                       lane_id, sums.acc);
    // [/store]
  }
  if (lane_id == 0) bulk_wait_read<0>();  // shared memory lasts until the engine has read it
}

}  // namespace tma_07_stream_k

// The pieces of each tile that is cut, and a counter for each warp's part of it.
template <class T, class TC>
inline size_t workspace_tma_07_stream_k(const GemmArgs& g) {
  using namespace tma_07_stream_k;
  const Schedule share = schedule(g);
  return (size_t)share.rest * (share.slots() * BM * BN * sizeof(float) + WARPS * sizeof(int));
}

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_tma_07_stream_k(const GemmArgs& g, cudaStream_t stream) {
  using namespace tma_07_stream_k;
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
  const Schedule share = schedule(g);
  float4* pieces = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(pieces + (size_t)share.rest * share.slots() * BM * BN / 4);
  if (share.rest > 0) error = cudaMemsetAsync(arrived, 0, share.rest * WARPS * sizeof(int), stream);
  if (error != cudaSuccess) return error;
  return launch(kernel<T, TC>, dim3(share.blocks), dim3(THREADS), SMEM_BYTES, stream, map_a, map_b,
                map_c, out, share, pieces, arrived);
}
