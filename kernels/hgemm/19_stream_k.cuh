// hgemm_19_stream_k: one block an SM, and tiles that would not fill a wave are cut along k.
//
// Change: 8192 has 2048 tiles of C, 15 waves of 132 and 68 more, which would keep half of the SMs
//   busy for 128 tiles of k. Here 132 blocks stay. All k tiles of those 68 stand in a row, and each
//   block begins with an equal stretch of it, 66. A stretch begins and ends inside tiles of C: a
//   block leaves the sums of such a tile in the workspace, and the last one to arrive adds all up,
//   in the order of k, so the result does not depend on who was last. Then come whole waves.
// Price: 128 KB written and read for each part. At 4096, cutting the 116 tiles of the last wave
//   would save 8 k tiles of 64 and cost more, so it is left incomplete.
// Limit: shared memory, as before.
// Source: beyond the articles. M. Osama et al.: Stream-K, PPoPP 2023.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>

#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/order/block_order.cuh"
#include "../common/store/write_back.cuh"
#include "../common/tile/mma_pipeline.cuh"
#include "../common/tile/swizzle.cuh"

namespace hgemm_19_stream_k {

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int WM = 64, WN = 64;
constexpr int WMITER = WM / 16, WNITER = WN / 8;  // products of mma.sync.m16n8k16
constexpr int BITS = 3, SHIFT_A = 3, SHIFT_B = 5;
constexpr int STAGES = 4, SMEM_BYTES = STAGES * BK * (BM + BN) * 2;  // tiles of A and of B
constexpr int THREADS = 256;
template <class T>
using Pipeline = MmaPipeline<T, BM, BN, WM, WN, STAGES, false>;
constexpr int MIN_SHARE = 32;  // k tiles: the least that cutting must save, the shortest stretch

// One block fits on an SM, by its shared memory.
inline int resident_blocks() { return device_attribute(cudaDevAttrMultiProcessorCount); }

// [schedule]
// The k tiles of the first `split` tiles of C stand in one row. The first `sharers` blocks take
// `length` of them each, and the first `longer` one more. Whole tiles of C follow.
struct Schedule {
  int blocks, k_tiles, split = 0, sharers = 0, length = 0, longer = 0;
  __host__ __device__ Schedule(int tiles, int k_tiles, int most)
      : blocks(max(1, min(most, tiles))), k_tiles(k_tiles) {
    const int rest = tiles % most;  // tiles of the last, incomplete wave
    const long long row = (long long)rest * k_tiles;
    const int enough = (int)min((long long)most, row / MIN_SHARE);
    if (enough == 0 || k_tiles - row / enough < MIN_SHARE) return;
    blocks = max(blocks, enough), split = rest, sharers = enough;
    length = (int)(row / enough), longer = (int)(row % enough);
  }
  __host__ __device__ int begin(int block) const {  // the first k tile of its stretch
    return min(block, sharers) * length + min(block, longer);
  }
  __host__ __device__ int owner(int x) const {  // the block whose stretch contains k tile x
    return max(x / (length + 1), (x - longer) / length);
  }
};
// [/schedule]

template <class T, class TC>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(const T* A, const T* B, TC* C, float4* parts, int* arrived, Schedule share, int M, int N,
           int K, float alpha, float beta) {
  extern __shared__ __align__(128) unsigned char smem[];
  T *sA = reinterpret_cast<T*>(smem), *sB = sA + BM * BK;  // in stage 0
  TC* sC = reinterpret_cast<TC*>(smem);                    // after the tiles of A and B

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  // [map]
  // Copying: 8 threads hold 64 elements of a row, of A or of a quarter of B's columns.
  const int row = tid / 8, col = tid % 8 * 8;
  const T *A_from = A + (size_t)row * K + col, *B_from = B + (size_t)row * N + col;
  const uint32_t to_a_addr = smem_addr(sA + swizzle<BITS, SHIFT_A>(row * BK + col));
  const uint32_t to_b_addr = smem_addr(sB + swizzle<BITS, SHIFT_B>(row * BN + col));
  uint32_t sB_addr[WNITER / 2];
  const uint32_t sA_addr = Pipeline<T>::fragments(sB_addr, sA, sB, warp_id, lane_id);
  // [/map]

  // [load]
  const T *gA = A_from, *gB = B_from;  // of the next tiles
  int depth = 0;                       // of this tile of C along k, or of this part of it
  auto copy_tiles = [&](int k_tile, int stage) {
    if (k_tile < depth) {
#pragma unroll
      for (int i = 0; i < BM; i += THREADS / 8)
        cp_async_cg(to_a_addr + stage + i * BK * sizeof(T), gA + (size_t)i * K);
#pragma unroll
      for (int i = 0; i < BK; i += THREADS / 8)
#pragma unroll
        for (int j = 0; j < BN; j += 64)
          cp_async_cg(to_b_addr + stage + (i * BN + j) * sizeof(T), gB + (size_t)i * N + j);
    }
    cp_async_commit();  // one group a tile, an empty one after the last
    gA += BK, gB += (size_t)BK * N;
  };
  // [/load]

  float acc[WMITER][WNITER][4];
  auto clear_sums = [&] {
#pragma unroll
    for (int i = 0; i < WMITER * WNITER * 4; ++i) acc[i / 4 / WNITER][i / 4 % WNITER][i % 4] = 0.0f;
  };
  // [share]
  int next = share.begin(blockIdx.x);         // of this block's stretch of k tiles
  int whole = share.split + (int)blockIdx.x;  // then of the whole tiles of C
  while (true) {
    int t = whole, k_begin = 0, k_end = share.k_tiles;
    const int end = share.begin(blockIdx.x + 1);
    if (next < end) {
      t = next / share.k_tiles, k_begin = next - t * share.k_tiles;
      k_end = min(share.k_tiles, k_begin + end - next);
      next += k_end - k_begin;
    } else {
      whole += share.blocks;
    }
    if (t >= M / BM * (N / BN)) break;
    const int2 tile = tile_at(t, M / BM, N / BN);
    const int block_m = tile.x * BM, block_n = tile.y * BN;
    gA = A_from + (size_t)block_m * K + k_begin * BK;
    gB = B_from + (size_t)k_begin * BK * N + block_n;
    depth = (k_end - k_begin) * BK;
    // [/share]

    clear_sums();
    __syncthreads();  // everyone is done with the last tile of C
    Pipeline<T>::multiply_tiles(acc, sA_addr, sB_addr, copy_tiles, 0, depth);

    // [fixup]
    if (depth < K) {  // a part of the sums: leave it, and add all up if it is the last
      // A block leaves two parts at the most: 0 begins inside its tile, 1 at the tile's first k.
      auto part = [&](int block) {
        const int which = 2 * block + (share.begin(block) <= t * share.k_tiles);
        return parts + (size_t)which * (BM * BN / 4) + tid;
      };
      float4 *own = part(blockIdx.x), *copy = reinterpret_cast<float4*>(smem) + tid;
#pragma unroll
      for (int i = 0; i < WMITER * WNITER; ++i) {
        const float* c = acc[i / WNITER][i % WNITER];
        own[i * THREADS] = make_float4(c[0], c[1], c[2], c[3]);
      }
      __syncthreads();  // all have written the part
      const int from = share.owner(t * share.k_tiles);
      const int to = share.owner((t + 1) * share.k_tiles - 1);
      int* last = reinterpret_cast<int*>(smem + BM * BN * 4);  // behind the part that comes there
      if (tid == 0) {
        __threadfence();  // the part is visible before the arrival is
        *last = atomicAdd(&arrived[t], 1) == to - from;
        __threadfence();  // what the others wrote is visible to this thread,
      }
      __syncthreads();  // and so to the block
      if (*last == 0) continue;
      const bool two = to - from == 1;
      if (!two) clear_sums();  // of two, this block's stays: a + b is b + a
      for (int block = from; block <= to; ++block) {
        if (two && block == (int)blockIdx.x) continue;
        const float4* other = part(block);  // past the registers, each thread for itself
#pragma unroll
        for (int i = 0; i < WMITER * WNITER; ++i)
          cp_async_cg(smem_addr(copy + i * THREADS), other + i * THREADS);
        cp_async_wait_all();
#pragma unroll
        for (int i = 0; i < WMITER * WNITER; ++i) {
          const float4 v = copy[i * THREADS];
          float* c = acc[i / WNITER][i % WNITER];
          c[0] += v.x, c[1] += v.y, c[2] += v.z, c[3] += v.w;
        }
      }
    }
    // [/fixup]

    // [store]
    write_back<BM, BN, WM, WN, THREADS, SMEM_BYTES>(sC, C + (size_t)block_m * N + block_n, N, acc,
                                                    alpha, beta);
    // [/store]
  }
}

}  // namespace hgemm_19_stream_k

// Two parts of a tile for each block that leaves any, and a counter for each tile that is cut.
template <class T, class TC>
inline size_t workspace_hgemm_19_stream_k(const GemmArgs& g) {
  using namespace hgemm_19_stream_k;
  const Schedule share(g.M / BM * (g.N / BN), g.K / BK, resident_blocks());
  return (size_t)share.sharers * 2 * BM * BN * sizeof(float) + share.split * sizeof(int);
}

// M is a multiple of 128, N of 256, K of 64; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_hgemm_19_stream_k(const GemmArgs& g, cudaStream_t stream) {
  using namespace hgemm_19_stream_k;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(THREADS == Pipeline<T>::THREADS, "one warp per 64x64 of the tile");
  static_assert(SMEM_BYTES == Pipeline<T>::SMEM_BYTES && SHIFT_B == Pipeline<T>::SHIFT_B,
                "one tile");
  static_assert(BK == 64 && BN % 64 == 0 && THREADS == 256, "8 threads copy 64 elements");
  static_assert(BM * BN * 4 + 4 <= SMEM_BYTES, "shared memory holds a part and a flag");
  const Schedule share(g.M / BM * (g.N / BN), g.K / BK, resident_blocks());
  float4* parts = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(parts + (size_t)share.sharers * 2 * BM * BN / 4);
  cudaError_t error =
      cudaFuncSetAttribute(kernel<T, TC>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
  if (error == cudaSuccess && share.split > 0)
    error = cudaMemsetAsync(arrived, 0, share.split * sizeof(int), stream);
  if (error != cudaSuccess) return error;
  return launch(kernel<T, TC>, dim3(share.blocks), dim3(THREADS), SMEM_BYTES, stream,
                static_cast<const T*>(g.A), static_cast<const T*>(g.B), static_cast<TC*>(g.C),
                parts, arrived, share, g.M, g.N, g.K, g.alpha, g.beta);
}
