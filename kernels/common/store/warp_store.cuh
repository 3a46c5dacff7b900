// A warp's part of C from its sums to global memory, through shared memory of its own and without
// the other warps.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>
#include <ptx/stmatrix.cuh>
#include <ptx/tma.cuh>

#include "../elements/half_vec.cuh"
#include "../tile/swizzle.cuh"
#include "../launch/tensor_map.cuh"

// C is M x N, in rows of N elements. by_engine: the copy engine writes and reads it.
template <class TC>
struct Output {
  TC* C;
  int M, N;
  float alpha, beta;
  bool by_engine;
};

// The map of C for store_part, whose parts are WM x WN; without the engine it stays empty.
template <class TC>
cudaError_t encode_output(CUtensorMap* map, const Output<TC>& out, int WM, int WN) {
  *map = {};
  if constexpr (is_half<TC>)
    if (out.by_engine)
      return encode_tensor_map(map, out.C, out.M, out.N, out.N, WM, WN, CU_TENSOR_MAP_SWIZZLE_128B);
  return cudaSuccess;
}

// The part of C, in 16 bits, to WM lines of 128 bytes with the 128-byte swizzle, in which what C
// was stands already if it counts (BETA).
template <int WM, int WN, bool BETA, class TC>
__device__ __forceinline__ void put_part(const Output<TC>& out, uint32_t stage_addr, int lane_id,
                                         const float (&acc)[WM / 16][WN / 8][4]) {
  // A 16x16 is four 8x8 for ldmatrix and stmatrix; lane l names row l % 16, in the left half for
  // l < 16, else in the right one.
  const int at = swizzle<3, 3>(lane_id % 16 * 64 + lane_id / 16 * 8);
#pragma unroll
  for (int i = 0; i < WM; i += 16)
#pragma unroll
    for (int j = 0; j < WN; j += 16) {
      const uint32_t addr = stage_addr + ((at ^ j) + i * 64) * sizeof(TC);
      uint32_t pairs[4] = {};
      if constexpr (BETA) ldmatrix_x4(pairs, addr);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const float* sums = &acc[i / 16][j / 8 + x / 2][x % 2 * 2];
        float c[2] = {0.0f, 0.0f};
        if constexpr (BETA) unpack2<TC>(c, pairs[x]);
        pairs[x] = pack2<TC>(out.alpha * sums[0] + (BETA ? out.beta * c[0] : 0.0f),
                             out.alpha * sums[1] + (BETA ? out.beta * c[1] : 0.0f));
      }
      stmatrix_x4(addr, pairs);
    }
}

// 16-bit elements by the copy engine; what is outside of C it neither reads nor writes. map: of C,
// in boxes of WM x WN, with the 128-byte swizzle. stage: WM lines of 128 bytes, aligned to 1024,
// which the engine may still read of the last part; of this one it does until bulk_wait_read<0>()
// returns. The mbarrier counts what it reads of C; parity: of its phase.
template <int WM, int WN, bool BETA, class TC>
__device__ __forceinline__ void store_by_engine(const Output<TC>& out, const CUtensorMap* map,
                                                uint32_t stage_addr, uint32_t bar_addr,
                                                uint32_t& parity, int row, int col, int lane_id,
                                                const float (&acc)[WM / 16][WN / 8][4]) {
  // [engine]
  if (lane_id == 0) {
    bulk_wait_read<0>();
    if constexpr (BETA) {
      mbarrier_arrive_expect_tx(bar_addr, WM * WN * sizeof(TC));
      tma_load_2d(stage_addr, map, bar_addr, col, row);
    }
  }
  __syncwarp();
  if constexpr (BETA) mbarrier_wait(bar_addr, parity), parity ^= 1;
  put_part<WM, WN, BETA>(out, stage_addr, lane_id, acc);
  fence_proxy_async();
  __syncwarp();
  if (lane_id == 0) {
    tma_store_2d(map, stage_addr, col, row);
    bulk_commit();
  }
  // [/engine]
}

// 16-bit elements with beta = 0, in rows that begin anywhere: the engine's stage, but its rows
// leave as pairs at multiples of 4 bytes. Lane l reads columns 2l and 2l + 1 of a row. If column 0
// is at an odd place, it stores 2l + 1 and, from lane l + 1, 2l + 2; lane 0 stores column 0 alone.
// So is a last column without a partner. With WN = 32, lanes from 16 on have no columns.
template <int WM, int WN, class TC>
__device__ __forceinline__ void store_by_pairs(const Output<TC>& out, uint32_t* stage, int row,
                                               int col, int lane_id,
                                               const float (&acc)[WM / 16][WN / 8][4]) {
  // [pairs]
  __syncwarp();  // the part before has been read
  put_part<WM, WN, false>(out, smem_addr(stage), lane_id, acc);
  __syncwarp();
  const int width = min(WN, out.N - col), height = min(WM, out.M - row);
  TC* to = out.C + (size_t)row * out.N + col;
#pragma unroll 4
  for (int i = 0; i < WM; ++i, to += out.N) {
    const uint32_t pair = stage[swizzle<3, 3>(i * 64 + lane_id * 2 % WN) / 2];
    const uint32_t next = __shfl_down_sync(0xffffffffu, pair, 1);
    const bool odd = reinterpret_cast<size_t>(to) % 4 != 0, inside = i < height;
    const int first = 2 * lane_id + odd;
    const uint32_t aligned = odd ? pair >> 16 | next << 16 : pair;
    if (inside && first + 1 < width) *reinterpret_cast<uint32_t*>(to + first) = aligned;
    if (inside && first + 1 == width) *reinterpret_cast<uint16_t*>(to + first) = aligned;
    if (inside && odd && lane_id == 0) *reinterpret_cast<uint16_t*>(to) = pair;
  }
  // [/pairs]
}

// Any type and any place: the sums go through shared memory in fp32, 32 columns at a time, and each
// row of them leaves as 32 neighbours.
template <int WM, int WN, class TC>
__device__ __forceinline__ void store_by_lanes(const Output<TC>& out, float* stage, int row,
                                               int col, int lane_id,
                                               const float (&acc)[WM / 16][WN / 8][4]) {
  // [lanes]
  const int to = swizzle<2, 2>(lane_id / 4 * 32 + lane_id % 4 * 2);
#pragma unroll
  for (int n = 0; n < WN; n += 32) {
    __syncwarp();  // the columns before have been read
#pragma unroll
    for (int i = 0; i < WM; i += 8)
#pragma unroll
      for (int j = 0; j < 32; j += 8) {
        const float* sums = &acc[i / 16][(n + j) / 8][i % 16 / 4];
        store2(stage + (to ^ j) + i * 32, make_float2(sums[0], sums[1]));
      }
    __syncwarp();
    TC* to_c = out.C + (size_t)row * out.N + col + n + lane_id;
#pragma unroll 4
    for (int i = 0; i < WM; ++i)
      if (row + i < out.M && col + n + lane_id < out.N)
        write_c(to_c + (size_t)i * out.N, stage[swizzle<2, 2>(i * 32 + lane_id)], out.alpha,
                out.beta);
  }
  // [/lanes]
}

// The part whose first element is row `row`, column `col` of C, by the way that C allows.
template <int WM, int WN, class TC>
__device__ __forceinline__ void store_part(const Output<TC>& out, const CUtensorMap* map,
                                           float* stage, uint32_t bar_addr, uint32_t& parity,
                                           int row, int col, int lane_id,
                                           const float (&acc)[WM / 16][WN / 8][4]) {
  if constexpr (is_half<TC>) {
    const uint32_t addr = smem_addr(stage);
    if (out.by_engine && out.beta == 0.0f)
      return store_by_engine<WM, WN, false>(out, map, addr, bar_addr, parity, row, col, lane_id,
                                            acc);
    if (out.by_engine)
      return store_by_engine<WM, WN, true>(out, map, addr, bar_addr, parity, row, col, lane_id,
                                           acc);
    if (out.beta == 0.0f)
      return store_by_pairs<WM, WN>(out, reinterpret_cast<uint32_t*>(stage), row, col, lane_id,
                                    acc);
  }
  store_by_lanes<WM, WN>(out, stage, row, col, lane_id, acc);
}
