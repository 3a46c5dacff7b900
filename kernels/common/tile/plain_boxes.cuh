// All but the arrival of tiles: maps of A and B without a swizzle, the products of tiles in shared
// memory, and the store of C. Four warps of 32x32 compute 64x64 of C. Of "Your kernel", rungs 13
// and 14, this is what is given.
#pragma once
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "../elements/epilogue.cuh"
#include "../launch/host.cuh"
#include "../launch/tensor_map.cuh"

// Boxes of BM x BK of A and of BK x BN of B.
template <int BM, int BN, int BK, class T>
cudaError_t encode_plain_boxes(const GemmArgs& g, CUtensorMap* map_a, CUtensorMap* map_b) {
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  const auto swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  const cudaError_t error = encode_tensor_map(map_a, A, g.M, g.K, g.K, BM, BK, swizzle);
  if (error != cudaSuccess) return error;
  return encode_tensor_map(map_b, B, g.K, g.N, g.N, BK, BN, swizzle);
}

// Row and column of the warp's 32x32 in the block's 64x64.
__device__ __forceinline__ int2 warp_corner() {
  const int warp = threadIdx.x / 32;
  return make_int2(warp / 2 * 32, warp % 2 * 32);
}

// sum += sA * sB, for the warp's 32x32.
template <int BM, int BN, int BK>
__device__ __forceinline__ void multiply_tiles(float (&sum)[2][4][4], const __half (&sA)[BM][BK],
                                               const __half (&sB)[BK][BN]) {
  const int lane = threadIdx.x % 32, m = warp_corner().x, n = warp_corner().y;
  for (int k = 0; k < BK; k += 16) {
    uint32_t a[2][4], b[4][2];
    for (int i = 0; i < 2; ++i)
      ldmatrix_x4(a[i], smem_addr(&sA[m + 16 * i + lane % 16][k + lane / 16 * 8]));
    for (int j = 0; j < 4; ++j) ldmatrix_x2_trans(b[j], smem_addr(&sB[k + lane % 16][n + 8 * j]));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) mma_m16n8k16<__half>(sum[i][j], a[i], b[j]);
  }
}

// The block's tile of C begins at row `block_m`, column `block_n`.
__device__ __forceinline__ void write_sums(float* C, int N, int block_m, int block_n,
                                           const float (&sum)[2][4][4], float alpha, float beta) {
  const int lane = threadIdx.x % 32, m = warp_corner().x, n = warp_corner().y;
  for (int i = 0; i < 32; ++i) {
    const int row = m + i / 16 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int col = n + i / 4 % 4 * 8 + lane % 4 * 2 + i % 2;
    write_c(&C[(block_m + row) * N + block_n + col], sum[i / 16][i / 4 % 4][i % 4], alpha, beta);
  }
}
