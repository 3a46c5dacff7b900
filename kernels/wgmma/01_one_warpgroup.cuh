// wgmma_01_one_warpgroup: four warps multiply together, on operands that stay in shared memory.
//
// Change: wgmma. One instruction of a warpgroup multiplies 64x128x16, as much as 64 mma.sync, and
//   the tensor cores read A and B from shared memory; only the sums are in registers. Each operand
//   is given by a descriptor: where it begins, and in which layout it is stored. The instruction
//   runs while the threads go on; the threads wait for a group of such instructions later.
// Limit: one stage. The tensor cores wait while the engine copies, and the engine waits while they
//   multiply. Only other blocks on the SM fill the gaps.
// Source: beyond the articles.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma.cuh>

#include "../common/elements/half.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/order/block_order.cuh"
#include "../common/tile/wgmma_descriptor.cuh"

namespace wgmma_01_one_warpgroup {

constexpr int BM = 64, BN = 128, BK = 64;
constexpr int WGMMA_K = 16;
constexpr int BOX = 64, ROW_BYTES = 128, PATTERN_BYTES = 8 * ROW_BYTES;  // of the swizzle
constexpr int BOX_BYTES = BK * ROW_BYTES;                                // 64 columns of B
constexpr int THREADS = 128;

template <class T, class TC>
__global__ void __launch_bounds__(THREADS)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           TC* C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(1024) T sA[BM * BK];  // rows of A, 64 k each: K-major
  __shared__ __align__(1024) T sB[BK * BN];  // two boxes, rows of 64 columns of B: MN-major
  __shared__ uint64_t full;
  const uint32_t full_addr = smem_addr(&full);

  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int2 tile = tile_at(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN));
  const int block_m = tile.x * BM, block_n = tile.y * BN;

  // [init]
  if (tid == 0) {
    mbarrier_init(full_addr, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  // [/init]

  // [descriptors]
  // Patterns of 8 rows of 128 bytes follow each other, 1024 bytes apart. In A, a row is a row of
  // the matrix and the next 16 k are 32 bytes further in it. In B, a row is one k: the next 16 k
  // are two patterns further, and the next 64 columns a box.
  const uint64_t desc_a = wgmma_k_major<ROW_BYTES>(smem_addr(sA));
  const uint64_t desc_b = wgmma_descriptor<ROW_BYTES>(smem_addr(sB), BOX_BYTES, PATTERN_BYTES);
  constexpr int NEXT_A = WGMMA_K * 2 / 16, NEXT_B = 2 * PATTERN_BYTES / 16;  // in 16 bytes
  // [/descriptors]

  float acc[BN / 2] = {};
  int parity = 0;
#pragma unroll 1
  for (int k_tile = 0; k_tile < K; k_tile += BK) {
    // [load]
    if (tid == 0) {
      mbarrier_arrive_expect_tx(full_addr, sizeof sA + sizeof sB);
      tma_load_2d(smem_addr(sA), &map_a, full_addr, k_tile, block_m);
#pragma unroll
      for (int j = 0; j < BN; j += BOX)
        tma_load_2d(smem_addr(sB + j * BK), &map_b, full_addr, block_n + j, k_tile);
    }
    mbarrier_wait(full_addr, parity);
    parity ^= 1;
    // [/load]

    // [multiply]
    wgmma_fence();  // the threads' own writes of acc come before
#pragma unroll
    for (int k_mma = 0; k_mma < BK / WGMMA_K; ++k_mma)
      wgmma_m64k16<BN, T, false, true>(acc, desc_a + k_mma * NEXT_A, desc_b + k_mma * NEXT_B, 1);
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();  // all four warps' products are done: the stage is free
    // [/multiply]
  }

  // [store]
  // Sums 4j and 4j + 1 are neighbours in row lane_id / 4, columns 8j on; the next two are 8 rows
  // below. The tile ends where C does.
  const int row = block_m + warp_id * 16 + lane_id / 4, col = block_n + lane_id % 4 * 2;
#pragma unroll
  for (int i = 0; i < BN / 2; i += 2) {
    const int down = i % 4 * 4, right = i / 4 * 8;
    if (row + down < M && col + right < N)
      write_c2(C + (size_t)(row + down) * N + col + right, make_float2(acc[i], acc[i + 1]), alpha,
               beta);
  }
  // [/store]
}

}  // namespace wgmma_01_one_warpgroup

// M is any, N and K are multiples of 8; A, B and C are 16-byte aligned.
template <class T, class TC>
inline cudaError_t launch_wgmma_01_one_warpgroup(const GemmArgs& g, cudaStream_t stream) {
  using namespace wgmma_01_one_warpgroup;
  static_assert(is_half<T>, "16-bit inputs");
  static_assert(BK * 2 == ROW_BYTES && BN % BOX == 0, "a row of a box is what the swizzle spans");
  // [encode]
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  CUtensorMap map_a, map_b;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, g.K, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_tensor_map(&map_b, B, g.K, g.N, g.N, BK, BOX, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  // [/encode]
  return launch(kernel<T, TC>, dim3(ceil_div(g.M, BM) * ceil_div(g.N, BN)), dim3(THREADS), 0,
                stream, map_a, map_b, static_cast<TC*>(g.C), g.M, g.N, g.K, g.alpha, g.beta);
}
