// sgemm_19_stream_k: every block gets the same amount of work, to within one tile of k.
//
// Change: 264 blocks, two on each of 132 SMs, and no more. At 4096 there are 1024 tiles: four waves
//   of 264, the last one with 232. Here the tiles that do not fill a wave, and one more wave of
//   them, are cut along k: all their k tiles in a row, block b takes the b-th of 264 equal
//   stretches. A stretch begins and ends inside tiles of C, so a block leaves the sums of such a
//   tile in the workspace, and the last one to arrive adds all of them up, in the order of k: the
//   result does not depend on who was last. The remaining tiles are whole waves.
// Price: 64 KB written and read for each part of a tile that was cut.
// Limit: the FMA pipe.
// Source: beyond the articles. M. Osama et al.: Stream-K, PPoPP 2023.
#pragma once
#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/order/block_order.cuh"
#include "../common/shape/pack.cuh"
#include "../common/tile/fp32_pipeline.cuh"

namespace sgemm_19_stream_k {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 64, WN = 64;
constexpr int TM = 8, TN = 16;
constexpr int STAGES = 3, THREADS = 128;
using Pipeline = Fp32Pipeline<BM, BN, BK, WM, WN, TM, TN, STAGES>;
constexpr int MIN_SHARE = 8;  // k tiles; below that, parts cost more than an idle SM

// Two blocks fit on an SM, by their registers.
inline int resident_blocks() { return 2 * device_attribute(cudaDevAttrMultiProcessorCount); }

// [reversed]
// Four sums in reverse order. A 16-byte store takes four registers in a row, the first a multiple
// of 4, and ptxas keeps the sums in that order throughout. rB comes from 16-byte loads, so rB[j] is
// even or odd as j is; with acc[i][j] the other way round, an FMA finds the two in different banks
// of the register file.
__device__ __forceinline__ float4 reversed(const float* r) {
  return make_float4(r[3], r[2], r[1], r[0]);
}

__device__ __forceinline__ void add_reversed(float* r, float4 v) {
  r[3] += v.x;
  r[2] += v.y;
  r[1] += v.z;
  r[0] += v.w;
}
// [/reversed]

// [schedule]
// The k tiles of the first `split` tiles of C stand in one row and are shared out evenly; whole
// tiles of C follow.
struct Schedule {
  int blocks, k_tiles, split;

  __host__ __device__ Schedule(int tiles, int k_tiles, int most) : k_tiles(k_tiles) {
    // At least MIN_SHARE k tiles for each block, if that leaves a block for each tile.
    const int enough = max(tiles, (int)min((long long)tiles * k_tiles / MIN_SHARE, 1ll << 30));
    blocks = max(1, min(most, enough));
    const int rest = tiles % blocks;  // tiles of the last, incomplete wave
    const bool full = rest == 0 || rest >= blocks - blocks / 20;  // to within 5 %
    split = full || k_tiles == 0 ? 0 : min(tiles, rest + blocks);
  }
  // First k tile of a block's share.
  __host__ __device__ int begin(int block) const {
    return (int)((long long)split * k_tiles * block / blocks);
  }
  // The block whose share contains k tile x.
  __host__ __device__ int owner(int x) const {
    return (int)((((long long)x + 1) * blocks - 1) / ((long long)split * k_tiles));
  }
};
// [/schedule]

__global__ void __launch_bounds__(THREADS, 2)
    kernel(const float* panels, const float* B, float* C, float4* parts, int* arrived,
           Schedule share, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float smem[STAGES * Pipeline::STAGE];
  grid_dependency_wait();  // pack has ended

  const int tid = threadIdx.x;
  Pipeline pipeline;
  // [share]
  int next = share.begin(blockIdx.x);
  const int mine = next, end = share.begin(blockIdx.x + 1);  // of the shared k tiles
  int whole = share.split + blockIdx.x;                      // then whole tiles of C
  const int count = M / BM * (N / BN);
  while (next < end || whole < count) {
    int t, k_begin = 0, k_end = share.k_tiles;
    if (next < end) {
      t = next / share.k_tiles;
      k_begin = next - t * share.k_tiles;
      k_end = min(share.k_tiles, k_begin + end - next);
      next += k_end - k_begin;
    } else {
      t = whole;
      whole += share.blocks;
    }
    const int tiles = k_end - k_begin;
    const int2 tile_mn = tile_at(t, M / BM, N / BN);
    const int block_m = tile_mn.x * BM, block_n = tile_mn.y * BN;
    pipeline.start(smem, panels, B, N, K, block_m, block_n, k_begin);
    // [/share]

    float acc[TM][TN] = {};
    __syncthreads();  // everyone is done with the last tile of C
    pipeline.multiply_tiles(acc, smem, tiles);

    // [fixup]
    if (tiles < share.k_tiles) {  // a part of the sums: leave it, and add all up if it is the last
      // A block leaves two parts at the most: 0 begins inside its tile, 1 at the tile's first k.
      auto part = [&](int block, int first) {
        return parts + (size_t)(2 * block + (first <= t * share.k_tiles)) * (BM * BN / 4) + tid;
      };
      float4* own = part(blockIdx.x, mine);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; j += 4) own[(i * TN + j) / 4 * THREADS] = reversed(&acc[i][j]);
      __syncthreads();  // all have written the part
      const int from = share.owner(t * share.k_tiles),
                to = share.owner((t + 1) * share.k_tiles - 1);
      if (tid == 0) {
        __threadfence();  // the part is visible before the arrival is
        smem[0] = atomicAdd(&arrived[t], 1) == to - from;
        __threadfence();  // what the others wrote is visible to this thread,
      }
      __syncthreads();  // and so to the block
      const bool last = smem[0] != 0;
      __syncthreads();  // everyone knows before the next copies overwrite it
      if (!last) continue;
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] = 0.0f;
      for (int block = from; block <= to; ++block) {
        const float4* other = part(block, share.begin(block));
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; j += 4)
            add_reversed(&acc[i][j], other[(i * TN + j) / 4 * THREADS]);
      }
    }
    // [/fixup]

    pipeline.write(C, acc, block_m, block_n, alpha, beta);
  }
}

}  // namespace sgemm_19_stream_k

// The panels, two parts of a tile for each block, and a counter for each tile of C.
inline size_t workspace_sgemm_19_stream_k(const GemmArgs& g) {
  using namespace sgemm_19_stream_k;
  const Schedule share(g.M / BM * (g.N / BN), g.K / BK, resident_blocks());
  return panel_bytes(g) + (size_t)share.blocks * 2 * BM * BN * sizeof(float) +
         (size_t)(g.M / BM) * (g.N / BN) * sizeof(int);
}

// M and N are multiples of 128, K of 16; A, B and C are 16-byte aligned.
inline cudaError_t launch_sgemm_19_stream_k(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_19_stream_k;
  static_assert(THREADS == Pipeline::THREADS, "one thread per 8x16 of the tile");
  const int tiles = g.M / BM * (g.N / BN);
  const Schedule share(tiles, g.K / BK, resident_blocks());
  float* panels = static_cast<float*>(g.workspace);
  float4* parts = reinterpret_cast<float4*>(panels + (size_t)g.M * g.K);
  int* arrived = reinterpret_cast<int*>(parts + (size_t)share.blocks * 2 * BM * BN / 4);
  const cudaError_t packed = launch_pack_panels<BM>(g, panels, stream, arrived, tiles);
  if (packed != cudaSuccess) return packed;
  return launch_dependent(kernel, dim3(share.blocks), dim3(THREADS), 0, stream, panels,
                          static_cast<const float*>(g.B), static_cast<float*>(g.C), parts, arrived,
                          share, g.M, g.N, g.K, g.alpha, g.beta);
}
