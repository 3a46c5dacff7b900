// tma_08_any_shape: any M, N, K and any alignment, and small sizes quickly.
//
// Change: the loop of tma_07_stream_k for six tiles. Small ones need fewer registers: their
//   producer is one warp, and keeps what it has. Where rows of A or B do not begin at multiples of
//   16 bytes, there is no tensor map of them: the loop runs on a copy in which they do. Where those
//   of C do not, 16-bit elements leave in pairs, or by lanes if beta counts. Edges need no guards:
//   loads bring zeros, stores are clipped. But zeros take the copy engine at least as long as
//   elements: boxes in which nothing of C is are not asked for, and warps whose part lies there
//   only let the stages go by.
// Up to 16 rows have a tile of their own: they use each element of B 16 times at most, and what
//   counts is how fast B comes from memory. Pieces of small tiles are added by a second kernel.
// Which tile is fastest depends on the shape and on the GPU: lab.tune measures, `choose` guesses.
// Source: beyond the articles.
#pragma once
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/device_attribute.cuh"
#include "../common/order/add_cut.cuh"
#include "../common/order/edges_first.cuh"
#include "../common/launch/host.cuh"
#include "../common/shape/realigned.cuh"
#include "../common/tile/clipped_boxes.cuh"
#include "../common/tile/stage_ring.cuh"
#include "../common/order/stream_k.cuh"
#include "../common/store/warp_store.cuh"
#include "../common/tile/warp_tile.cuh"

namespace tma_08_any_shape {

constexpr int BK = 64;
// Of a piece, in k tiles of time; of a light tile (edges_first.cuh) half of the warps or more have
// no sums. ADDING: of the second kernel, which adds up the pieces of small tiles.
constexpr int PRICE = 6, LIGHT_PRICE = 3;
constexpr int ADDING = 8;
constexpr int LAUNCH_REGISTERS = 168, PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
static_assert(128 * PRODUCER_REGISTERS + 256 * CONSUMER_REGISTERS <= 384 * LAUNCH_REGISTERS,
              "else setmaxnreg waits for ever");

// BM x BN for a block, WM x WN for a warp.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, STAGES = STAGES_;
  static constexpr int ROW_BYTES = LINE * 2, A_BYTES = BM * ROW_BYTES;
  static constexpr int STAGE_BYTES = A_BYTES + BN * BK * 2;  // a tile of A, then the boxes of B
  static constexpr int WARPS = (BM / WM) * (BN / WN), PART_BYTES = WM * ROW_BYTES;
  // Eight warps of 64x64 need what a warpgroup of producers gives back.
  static constexpr bool GIVES = WARPS == 8 && WM * WN == 4096;
  static constexpr int THREADS = 32 * WARPS + (GIVES ? 128 : 32);
  static constexpr bool THIN = BM == LOW_BOX, SMALL = BM * BN <= 64 * 64;
  using Ring = StageRing<STAGES, STAGE_BYTES>;
  // The stages, the parts of C, and the mbarriers: of each part one, and of the ring.
  static constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + WARPS * (PART_BYTES + 8) + Ring::BYTES;
  static_assert(BK == LINE && BN % LINE == 0, "a row of a box is what the swizzle spans");
  static_assert(STAGE_BYTES % 1024 == 0 && PART_BYTES % 1024 == 0, "the swizzle's pattern");

  // A warp's rows and columns in the tile. At an edge only some warps have work: those of the first
  // WN columns, like those of the first WM rows, are on different schedulers, if warp w is on
  // number w % 4.
  __device__ static int m(int warp) { return warp / (BN / WN) * WM; }
  __device__ static int n(int warp) { return (warp + warp / 4) % (BN / WN) * WN; }
};

// map_low: of A, in boxes of LOW_BOX rows. The producer waits for the copies of A and B, if there
// are any; why nobody else has to is said where this is launched, in 08_any_shape_host.cuh.
template <class T, class TC, class S>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_low,
           const __grid_constant__ CUtensorMap map_b, const __grid_constant__ CUtensorMap map_c,
           Output<TC> out, Schedule share, float4* pieces, int* arrived) {
  constexpr int BM = S::BM, BN = S::BN, WM = S::WM, WN = S::WN, WARPS = S::WARPS;
  extern __shared__ __align__(1024) unsigned char smem[];
  unsigned char* parts = smem + S::STAGES * S::STAGE_BYTES;
  const uint32_t part_bars = smem_addr(parts + WARPS * S::PART_BYTES);
  typename S::Ring ring(part_bars + WARPS * 8);
  if constexpr (S::SMALL) grid_launch_dependents();  // add_cut_tiles, if there is one

  // The same for all lanes: a shuffle tells the compiler, which then counts stages once for a warp.
  const int warp_id = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
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
    if constexpr (S::GIVES) setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp_id > WARPS || !elect_one()) return;
    grid_dependency_wait();
    const EdgesFirst<BM, BN> tiles(out.M, out.N);
    const Queue queue(share);
    for (int i = 0; i < queue.count(); ++i) {
      const Work work = queue[i];
      const int2 tile = tiles[work.tile];
      const Boxes<S> boxes(tile.x * BM, tile.y * BN, out.M, out.N);
      const int bytes = boxes.bytes();
      for (int k_tile = work.begin * BK; k_tile < work.end * BK; k_tile += BK) {
        ring.wait_empty();
        mbarrier_arrive_expect_tx(ring.full_addr(), bytes);
        boxes.load(&map_a, &map_low, &map_b, smem_addr(smem) + ring.offset, ring.full_addr(),
                   k_tile);
        ring.next();
      }
    }
    return;
  }
  // [/produce]

  // [consume]
  if constexpr (S::GIVES) setmaxnreg_inc<CONSUMER_REGISTERS>();
  const int lane_id = threadIdx.x % 32;
  WarpTile<T, BM, WM, WN, S::LAYOUT> sums(smem_addr(smem), S::m(warp_id), S::n(warp_id), lane_id);
  uint32_t part_parity = 0;
  const EdgesFirst<BM, BN> tiles(out.M, out.N);
  const Queue queue(share);
  const int works = __shfl_sync(0xffffffffu, queue.count(), 0);
  for (int i = 0; i < works; ++i) {
    const Work work = queue[i];
    const int depth = __shfl_sync(0xffffffffu, work.end - work.begin, 0);
    // The same for all lanes, too: what a vote says the compiler believes.
    // [edge]
    const int2 tile = tiles[work.tile];
    const int2 at = make_int2(tile.x * BM + S::m(warp_id), tile.y * BN + S::n(warp_id));
    if (!__all_sync(0xffffffffu, at.x < out.M && at.y < out.N)) {
      sums.pass_tiles(ring, depth, lane_id);
      continue;
    }
    sums.clear();
    if (__all_sync(0xffffffffu, out.M - at.x <= LOW_BOX))
      sums.template multiply_tiles<1>(ring, depth, lane_id);
    else
      sums.multiply_tiles(ring, depth, lane_id);
    // [/edge]
    // [/consume]

    // [fixup]
    if (depth < share.depth) {
      const int count = share.pieces(work.tile), own = share.piece(work);
      const size_t part = (size_t)work.tile * WARPS + warp_id;
      float4* slots = pieces + part * share.slots() * (WM * WN / 4) + lane_id;
      if constexpr (S::SMALL) {
        leave_piece(sums.acc, slots + own * (WM * WN / 4));
        continue;
      }
      if (!add_pieces(sums.acc, slots, arrived + part, own, count, lane_id)) continue;
    }
    // [/fixup]

    // [store]
    store_part<WM, WN>(out, &map_c, reinterpret_cast<float*>(parts + warp_id * S::PART_BYTES),
                       part_bars + warp_id * 8, part_parity, at.x, at.y, lane_id, sums.acc);
    // [/store]
  }
  if (lane_id == 0) bulk_wait_read<0>();  // shared memory lasts until the engine has read it
}

// [configurations]
constexpr int TILES = 6, SMALLEST = 4;  // 3 and 4 have room in 99 KB of shared memory
template <class F>
auto with_tile(int tile, F f) {
  if (tile == 0) return f(Tile<256, 128, 64, 64, 3>());
  if (tile == 1) return f(Tile<128, 128, 64, 32, 4>());
  if (tile == 2) return f(Tile<128, 64, 32, 32, 6>());
  if (tile == 3) return f(Tile<128, 64, 32, 32, 2>());
  if (tile == SMALLEST) return f(Tile<64, 64, 32, 32, 5>());
  return f(Tile<16, 128, 16, 32, 6>());
}
// [/configurations]

// One block on an SM is assumed: of the last two tiles two would fit.
inline int resident_blocks() { return device_attribute(cudaDevAttrMultiProcessorCount); }

}  // namespace tma_08_any_shape

#include "08_any_shape_host.cuh"  // schedule, choose, pieces_bytes and run

// The copies, the pieces of each tile that is cut, and a counter for each warp's part of it.
template <class T, class TC, int LAYOUT = 0>
inline size_t workspace_tma_08_any_shape(const GemmArgs& g) {
  using namespace tma_08_any_shape;
  return RealignedInputs<T>(g).bytes + with_tile(choose(g), [&](auto of) {
           using S = decltype(of);
           const Schedule share = schedule<S>(g);
           return pieces_bytes<S>(share) + share.rest * S::WARPS * sizeof(int);
         });
}

template <class T, class TC, int LAYOUT = 0>
inline cudaError_t launch_tma_08_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace tma_08_any_shape;
  static_assert(is_half<T>, "16-bit inputs");
  const RealignedInputs<T> p(g);
  return with_tile(choose(g), [&](auto of) { return run<T, TC, decltype(of), LAYOUT>(p, stream); });
}
