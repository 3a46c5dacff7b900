// tma_08_any_shape: any M, N, K and any alignment, and small sizes quickly.
//
// Change: the loop of tma_07_stream_k for five tiles. Small ones need fewer registers: their
//   producer is one warp, and keeps what it has. Where rows of A or B do not begin at multiples of
//   16 bytes, there is no tensor map of them: the loop runs on a copy in which they do. Where those
//   of C do not, its elements leave one by one. Edges need no guards: loads bring zeros, stores are
//   clipped; but a tile at the edge takes as long as a whole one.
// Which tile is fastest depends on the shape and on the GPU: lab.tune measures, `choose` guesses.
// Source: beyond the articles.
#pragma once
#include <ptx/grid.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/warp.cuh>

#include "../common/block_order.cuh"
#include "../common/dependent_launch.cuh"
#include "../common/host.cuh"
#include "../common/realigned.cuh"
#include "../common/shared_memory.cuh"
#include "../common/stage_ring.cuh"
#include "../common/stream_k.cuh"
#include "../common/tensor_map.cuh"
#include "../common/warp_store.cuh"
#include "../common/warp_tile.cuh"

namespace tma_08_any_shape {

constexpr int BK = 64;
constexpr int PRICE = 6;  // of a piece, in k tiles of time

// Of the 168 that each of 384 threads is launched with.
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;

// BM x BN for a block, WM x WN for a warp.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, STAGES = STAGES_;
  static constexpr int STAGE_BYTES = BK * (BM + BN) * 2;  // a tile of A, then the boxes of B
  static constexpr int WARPS = (BM / WM) * (BN / WN), PART_BYTES = WM * 128;
  // Eight warps of 64x64 need what a warpgroup of producers gives back.
  static constexpr bool GIVES = WARPS == 8 && WM * WN == 4096;
  static constexpr int THREADS = 32 * WARPS + (GIVES ? 128 : 32);
  using Ring = StageRing<STAGES, STAGE_BYTES>;
  // The stages, the parts of C, and the mbarriers: of each part one, and of the ring.
  static constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + WARPS * (PART_BYTES + 8) + Ring::BYTES;
  static_assert(BK == LINE && BN % LINE == 0, "a row of a box is what the swizzle spans");
  static_assert(STAGE_BYTES % 1024 == 0 && PART_BYTES % 1024 == 0, "the swizzle's pattern");
};

// The producer waits for the copies of A and B, if there are any.
template <class T, class TC, class S>
__global__ void __launch_bounds__(S::THREADS, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, Output<TC> out, Schedule share,
           float4* pieces, int* arrived) {
  constexpr int BM = S::BM, BN = S::BN, WM = S::WM, WN = S::WN, WARPS = S::WARPS;
  constexpr int STAGE_BYTES = S::STAGE_BYTES, PART_BYTES = S::PART_BYTES;
  extern __shared__ __align__(1024) unsigned char smem[];
  unsigned char* parts = smem + S::STAGES * STAGE_BYTES;
  const uint32_t part_bars = smem_addr(parts + WARPS * PART_BYTES);
  typename S::Ring ring(part_bars + WARPS * 8);

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
    if constexpr (S::GIVES) setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp_id > WARPS || !elect_one()) return;
    grid_dependency_wait();
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
  if constexpr (S::GIVES) setmaxnreg_inc<CONSUMER_REGISTERS>();
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
      if (!add_pieces(sums.acc, pieces + part * share.slots() * (WM * WN / 4) + lane_id,
                      arrived + part, own, count, lane_id))
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

// [configurations]
// In 99 KB of shared memory the last two have room.
constexpr int TILES = 5;
template <class F>
auto with_tile(int tile, F f) {
  if (tile == 0) return f(Tile<256, 128, 64, 64, 3>());
  if (tile == 1) return f(Tile<128, 128, 64, 32, 4>());
  if (tile == 2) return f(Tile<128, 64, 32, 32, 6>());
  if (tile == 3) return f(Tile<128, 64, 32, 32, 2>());
  return f(Tile<64, 64, 32, 32, 5>());
}
// [/configurations]

// [choice]
constexpr int COST[TILES] = {100, 106, 130, 150, 165};  // of an element of C, 64 k deep

inline int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, which, device);
  return value;
}

template <class S>
Schedule schedule(const GemmArgs& g) {
  return Schedule(ceil_div(g.M, S::BM) * ceil_div(g.N, S::BN), ceil_div(g.K, BK),
                  attribute(cudaDevAttrMultiProcessorCount), PRICE);
}

// The tile asked for, else the one that should take least time, one after the other on each SM.
inline int choose(const GemmArgs& g) {
  if (g.config >= 0 && g.config < TILES) return g.config;
  const int room = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int best = TILES - 1;
  long long least = 0;
  for (int tile = 0; tile < TILES; ++tile)
    with_tile(tile, [&](auto of) {
      using S = decltype(of);
      const long long cost = (long long)S::BM * S::BN * COST[tile] * schedule<S>(g).busiest;
      if (S::SMEM_BYTES > room || (least > 0 && cost >= least)) return;
      best = tile, least = cost;
    });
  return best;
}
// [/choice]

template <class S>
size_t pieces_bytes(const Schedule& share) {
  return (size_t)share.rest * share.slots() * S::BM * S::BN * sizeof(float);
}

// [run]
template <class T, class TC, class S>
cudaError_t run(const RealignedInputs<T>& p, cudaStream_t stream) {
  const GemmArgs& g = p.g;
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  TC* C = static_cast<TC*>(g.C);
  const bool by_engine = is_half<TC> && g.N % 8 == 0 && RealignedInputs<T>::aligned(C);
  const Output<TC> out = {C, g.M, g.N, g.alpha, g.beta, by_engine};
  CUtensorMap map_a, map_b, map_c;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, p.lda, S::BM, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, p.ldb, BK, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_output(&map_c, out, S::WM, S::WN);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC, S>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const Schedule share = schedule<S>(g);
  float4* pieces = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(static_cast<char*>(g.workspace) + pieces_bytes<S>(share));
  if (share.rest > 0)
    error = cudaMemsetAsync(arrived, 0, share.rest * S::WARPS * sizeof(int), stream);
  if (error != cudaSuccess) return error;
  const dim3 grid(share.blocks), block(S::THREADS);
  if (!p.copied())
    return launch(kernel<T, TC, S>, grid, block, S::SMEM_BYTES, stream, map_a, map_b, map_c, out,
                  share, pieces, arrived);
  error = p.copy(stream);
  if (error != cudaSuccess) return error;
  return launch_dependent(kernel<T, TC, S>, grid, block, S::SMEM_BYTES, stream, map_a, map_b, map_c,
                          out, share, pieces, arrived);
}
// [/run]

}  // namespace tma_08_any_shape

// The copies, the pieces of each tile that is cut, and a counter for each warp's part of it.
template <class T, class TC>
inline size_t workspace_tma_08_any_shape(const GemmArgs& g) {
  using namespace tma_08_any_shape;
  return RealignedInputs<T>(g).bytes + with_tile(choose(g), [&](auto of) {
           using S = decltype(of);
           const Schedule share = schedule<S>(g);
           return pieces_bytes<S>(share) + share.rest * S::WARPS * sizeof(int);
         });
}

template <class T, class TC>
inline cudaError_t launch_tma_08_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace tma_08_any_shape;
  static_assert(is_half<T>, "16-bit inputs");
  const RealignedInputs<T> p(g);
  return with_tile(choose(g), [&](auto of) { return run<T, TC, decltype(of)>(p, stream); });
}
