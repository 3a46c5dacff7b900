// wgmma_14_any_shape: any M, N, K, any alignment and layout, with the plan that fits.
//
// Change: one loop for thirteen plans, which with_plan lists. A plan is a type: tile, stages,
//   consumers, cluster, order. The last team adds up the pieces of a cut tile, in some plans a
//   second kernel. The layout is a type, too: A or B may lie in memory as its transpose, with the
//   other one's boxes and descriptor. Loads bring zeros beyond an edge, stores are clipped. Where
//   rows of A or B do not begin at multiples of 16 bytes, the loop runs on copies; where rows of C
//   do not, the lanes write C. Three multiply C's transpose. All begin while the grid before runs.
// Which plan is fastest depends on the shape and on the GPU: lab.tune measures, `choose` estimates.
// Source: beyond the articles.
#pragma once
#include <ptx/cluster.cuh>
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>
#include <ptx/warp.cuh>

#include "../common/launch/host.cuh"
#include "../common/order/add_last.cuh"
#include "../common/order/in_step.cuh"
#include "../common/order/last_wave.cuh"
#include "../common/order/snake.cuh"
#include "../common/order/turns.cuh"
#include "../common/shape/realigned.cuh"
#include "../common/store/any_store.cuh"
#include "../common/tile/cluster_load.cuh"
#include "../common/tile/low_boxes.cuh"
#include "../common/tile/warpgroup_tile.cuh"
#include "../common/tile/wgmma_shape.cuh"

namespace wgmma_14_any_shape {

// TURNS: each consumer has a tile of its own, and they take turns. STRIP: rows of cluster tiles.
// ADDED: a second kernel adds up the pieces of a cut tile, else the last team that has one.
// TRANSPOSED: the product is C's transpose: of rows of C a tile may have any multiple of 16.
template <int BM, int BN, int STAGES, int CONSUMERS, int CLUSTER, int STRIP_, bool TURNS_ = false,
          bool ADDED_ = BM * BN <= 64 * 128, bool TRANSPOSED_ = false>
struct Plan : WgmmaShape<BM, BN, STAGES, CONSUMERS, CLUSTER, TRANSPOSED_> {
  using Shape = WgmmaShape<BM, BN, STAGES, CONSUMERS, CLUSTER, TRANSPOSED_>;
  static constexpr bool TRANSPOSED = TRANSPOSED_;
  static constexpr int STRIP = STRIP_;
  // The warps of a transposed tile store it together: none may be the last one by itself.
  static constexpr bool ADDED = ADDED_ || TRANSPOSED;
  // Of a piece of a cut tile, in k tiles of time: some 4 us, or its traffic alone.
  static constexpr int PRICE = ADDED ? 8 : 10 * 128 * 256 / (BM * BN);
  // Of the second kernel, some 2 us.
  static constexpr int ADDING = ADDED ? 16 * 64 * 128 / (BM * BN) : 0;
  static constexpr bool TURNS = TURNS_;
  static constexpr int TILES = TURNS ? CONSUMERS : 1;  // at a time
  static constexpr int ROWS = BM / CONSUMERS * TILES;  // of a consumer
  static_assert(ROWS % 64 == 0 && (!TURNS || CONSUMERS == 2), "64 rows; two take turns");
  static constexpr int PARTS = Shape::WARPS / TILES;  // warps of a tile
  static constexpr int PIECE = ROWS / 4 * BN / 4;     // a warp's sums, in groups of four
  static constexpr int SMEM_BYTES = Shape::SMEM_BYTES + (TURNS ? CONSUMERS * 8 : 0);
  // Waves that begin together. Consumers that take turns would wait for both.
  __host__ __device__ static int steps(const LastWave& share) { return TURNS ? 0 : ::steps(share); }
  // Whether a tile waits in registers for the next one: 192 sums leave no room for that.
  template <class TC>
  static constexpr bool LATE = is_half<TC> && ROWS == 64 && BN >= 192 && !TRANSPOSED;
};

template <class T, class TC, class S>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ GemmMaps maps, const __grid_constant__ Output<TC> out,
           Snake order, LastWave share, float4* pieces, int* arrived, int* begun, bool c_first) {
  extern __shared__ __align__(1024) unsigned char smem[];
  typename S::Ring ring(smem_addr(smem) + S::BARS);
  const uint32_t turns_addr = smem_addr(smem) + S::Shape::SMEM_BYTES;

  const int wg_id = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = S::CLUSTER > 1 ? cluster_rank() : 0, team = blockIdx.x / S::CLUSTER;
  const int works = __shfl_sync(0xffffffffu, share.count(team), 0);  // the same for all lanes
  int2 tile = {};  // the producer's first one, found while the mbarriers are made
  if (wg_id == S::CONSUMERS) tile = order[share.work(team, 0).tile];
  // [init]
  if (threadIdx.x == 0) {
    prefetch_maps(maps, share.depth > 0, S::ENGINE);
    for (int i = 0; i < 2 && S::TURNS; ++i) mbarrier_init(turns_addr + i * 8, 1);
    ring.init(S::CLUSTER * S::CONSUMERS / S::TILES);
  }
  const int rows = box_rows<S>(out.M);
  if constexpr (S::LOW) clear_below<S>(smem, rows);
  S::CLUSTER > 1 ? cluster_sync() : __syncthreads();
  grid_dependency_wait();
  grid_launch_dependents();
  // [/init]

  // [produce]
  if (wg_id == S::CONSUMERS) {
    if constexpr (S::GIVES) setmaxnreg_dec<S::PRODUCER_REGISTERS>();
    if (threadIdx.x / 32 == S::WARPS && elect_one()) {
      for (int i = 0; i < works; ++i) {
        const Work work = share.work(team, i);
        if (i > 0) tile = order[work.tile];
        if (rank == 0 && 0 < i && i < S::steps(share)) come_together(begun + i, share.teams);
        for (int j = work.begin; j < work.end; ++j) {
          const int k_tile = i % 2 ? work.begin + work.end - 1 - j : j;  // there and back
          ring.wait_empty();
          mbarrier_arrive_expect_tx(ring.full_addr(), S::LOADED_BYTES - (S::BM - rows) * 128);
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
    if constexpr (S::GIVES) setmaxnreg_inc<S::CONSUMER_REGISTERS>();
    const int first = S::TURNS ? wg_id : 0, own_row = S::TURNS ? 0 : wg_id * S::WM;
    auto release = [&](uint32_t empty_addr) {
      const int to = threadIdx.x % 128;
      if (S::CLUSTER == 1 && to == 0) mbarrier_arrive(empty_addr);
      if (S::CLUSTER > 1 && to < S::CLUSTER) mbarrier_arrive_remote(empty_addr, to);
    };
    auto depth_of = [&](int i) {
      const Work work = share.work(team, i);
      return __shfl_sync(0xffffffffu, work.end - work.begin, 0);
    };
    WarpgroupTile<T, S::BM, S::ROWS, S::BN, S::LAYOUT> sums(smem_addr(smem), own_row);
    using Ring = RingOf<TC, S>;
    Ring store_ring(smem + S::OUT + threadIdx.x / 32 * Ring::BYTES, out, c_first);
    LateStore<TC, S::BN / 2, Ring> late(store_ring, &maps.c);
    Turns<S> turns(turns_addr, wg_id);
    for (int i = first; i < works; i += S::TILES) {
      const Work work = share.work(team, i);
      const int depth = depth_of(i);
      if (S::TURNS && i > 0) ring.skip(depth_of(i - 1));  // which the other consumer has
      turns.wait();
      const uint32_t used_addr = sums.template start_tiles<S::template LATE<TC> ? late.PIECES : 0>(
          ring, depth, release, [&](int piece) { late.put(piece); });
      turns.pass();
      sums.finish_tiles(used_addr, depth, release);
      // [/consume]
      // [fixup]
      if (depth < share.depth) {
        const int lane_id = threadIdx.x % 32, part = threadIdx.x / 32 % S::PARTS;
        const int at = (share.cut_tile(work) * S::CLUSTER + rank) * S::PARTS + part;
        const int own = share.piece(work, team), count = share.pieces(work);
        float4* slots = pieces + (size_t)at * share.slots() * S::PIECE + lane_id;
        if constexpr (S::ADDED) {
          const int top = (order[work.tile].x * S::CLUSTER + rank) * S::BM;
          if (top + part / 4 * S::ROWS + part % 4 * 16 < out.M)
            leave_sums(sums.all(), slots + own * S::PIECE);
          continue;
        }
        if (!join_pieces(sums.all(), slots, arrived + at, own, count, lane_id)) continue;
      }
      // [/fixup]
      // [store]
      const int2 tile = order[work.tile];
      const int row = (tile.x * S::CLUSTER + rank) * S::BM + own_row, col = tile.y * S::BN;
#pragma unroll
      for (int m = 0; m < S::ROWS / 64; ++m) {
        if constexpr (S::ENGINE && !S::TRANSPOSED)
          scale_sums(out, row + m * 64, col, sums.acc[m]);
        else
          scale_any<S::TRANSPOSED>(out, row + m * 64, col, sums.acc[m]);
        if constexpr (S::template LATE<TC>)
          late.take(sums.acc[m], row, col);
        else
          store_any_rows<S>(out, &maps.c, store_ring, row + m * 64, col, sums.acc[m]);
      }
      // [/store]
    }
    if constexpr (S::template LATE<TC>) late.put_all();
    late.ring.finish();
    store_ring.finish();
  }
  if constexpr (S::CLUSTER > 1) cluster_sync();
}

// [plans]
constexpr int PLANS = 13;
template <class F>
auto with_plan(int plan, F f) {
  if (plan == 0) return f(Plan<128, 256, 4, 2, 2, 8>());
  if (plan == 1) return f(Plan<256, 192, 3, 2, 2, 4>());
  if (plan == 2) return f(Plan<64, 128, 8, 1, 1, 32>());
  if (plan == 3) return f(Plan<128, 128, 6, 2, 1, 8, true>());
  if (plan == 4) return f(Plan<64, 64, 12, 1, 1, 32>());
  if (plan == 5) return f(Plan<128, 192, 4, 2, 2, 8>());
  if (plan == 6) return f(Plan<128, 256, 4, 2, 2, 8, false, true>());
  if (plan == 7) return f(Plan<64, 128, 8, 1, 2, 32>());
  if (plan == 8) return f(Plan<192, 128, 4, 2, 1, 8, true>());
  if (plan == 9) return f(Plan<192, 96, 5, 1, 1, 8, false, true, true>());
  if (plan == 10) return f(Plan<192, 176, 4, 3, 1, 8, false, true, true>());
  if (plan == 11) return f(Plan<64, 16, 12, 1, 1, 32, false, true, true>());
  return f(Plan<128, 256, 4, 2, 1, 8>());
}
// [/plans]

}  // namespace wgmma_14_any_shape

#include "14_any_shape_host.cuh"  // choose, order_of, share_of, counters and run

// The copies, the pieces of each tile that is cut, and the counters.
template <class T, class TC, int LAYOUT = 0>
inline size_t workspace_wgmma_14_any_shape(const GemmArgs& g) {
  using namespace wgmma_14_any_shape;
  return RealignedInputs<T>(g).bytes + with_plan(choose(g), [&](auto of) {
           using S = decltype(of);
           const LastWave share = share_of<S>(product<S>(g));
           return pieces_bytes<S>(share) + counters<S>(share) * sizeof(int);
         });
}

template <class T, class TC, int LAYOUT = 0>
inline cudaError_t launch_wgmma_14_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_14_any_shape;
  static_assert(is_half<T>, "16-bit inputs");
  if (g.layout != LAYOUT) return cudaErrorInvalidValue;
  return with_plan(choose(g), [&](auto of) {
    using Plan = decltype(of);
    const RealignedInputs<T> p(product<Plan>(g));
    if constexpr (is_half<TC>)
      if (g.N % 8 == 0 && p.aligned(g.C)) return run<T, TC, Laid<Plan, LAYOUT, true>>(p, stream);
    return run<T, TC, Laid<Plan, LAYOUT, false>>(p, stream);
  });
}
