// A warpgroup's sums to C where rows of C begin anywhere.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/wgmma.cuh>

#include "late_store.cuh"

// As scale_sums; N is any.
template <int COUNT, class TC>
__device__ __forceinline__ void scale_any(const Output<TC>& out, int row, int col,
                                          float (&acc)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) acc[i] *= out.alpha;
  if (out.beta == 0.0f) return;
  const int2 at = sums_place();
  const int below = out.M - row - at.x, right = out.N - col - at.y;  // what is left of C
  const TC* from = out.C + (size_t)(row + at.x) * out.N + col + at.y;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int m = i / 2 % 2 * 8, n = i / 4 * 8 + i % 2;
    if (m < below && n < right) acc[i] += out.beta * to_float(from[(size_t)m * out.N + n]);
  }
}

// Scaled sums in fp32, four neighbours at a time, where rows of C begin at multiples of 16 bytes.
// Two lanes side by side have two columns each, of a row and of the one 8 below: the even lane
// takes four columns of the upper row, the odd one those of the lower.
template <int COUNT>
__device__ __forceinline__ void store_fours(const Output<float>& out, int row, int col,
                                            const float (&acc)[COUNT]) {
  const bool odd = threadIdx.x % 2;
  const int2 at = sums_place();
  const int m = row + at.x + odd * 8, n = col + at.y - odd * 2;
  float* to = out.C + (size_t)m * out.N + n;
  __syncwarp();  // the other lane has read what was in C
#pragma unroll
  for (int i = 0; i < COUNT; i += 4) {
    float a[4] = {acc[i], acc[i + 1], acc[i + 2], acc[i + 3]};
    wgmma_detach(a);
    const float x = __shfl_xor_sync(0xffffffffu, a[odd ? 0 : 2], 1);
    const float y = __shfl_xor_sync(0xffffffffu, a[odd ? 1 : 3], 1);
    const float4 four = odd ? make_float4(x, y, a[2], a[3]) : make_float4(a[0], a[1], x, y);
    if (m < out.M && n + i * 2 < out.N) *reinterpret_cast<float4*>(to + i * 2) = four;
  }
}

// Scaled sums in fp32: four at a time where the rows of C allow it, else one.
template <int COUNT>
__device__ __forceinline__ void store_any(const Output<float>& out, int row, int col,
                                          const float (&acc)[COUNT]) {
  if (out.N % 4 == 0 && reinterpret_cast<size_t>(out.C) % 16 == 0)
    return store_fours(out, row, col, acc);
  const int2 at = sums_place();
  const int below = out.M - row - at.x, right = out.N - col - at.y;
  float* to = out.C + (size_t)(row + at.x) * out.N + col + at.y;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int m = i / 2 % 2 * 8, n = i / 4 * 8 + i % 2;
    if (m < below && n < right) to[(size_t)m * out.N + n] = acc[i];
  }
}

// As store_rows; ring: an AnyRing.
template <class Ring, int COUNT, class TC>
__device__ __forceinline__ void store_any_rows(const Output<TC>& out, const CUtensorMap* map,
                                               Ring& ring, int row, int col,
                                               const float (&acc)[COUNT]) {
  if constexpr (is_half<TC>)
    store_rows(out, map, ring, row, col, acc);
  else
    store_any(out, row, col, acc);
}

// A StoreRing whose pieces the engine takes, if rows of C begin where it can write them (ENGINE).
// Else the warp's lanes write them, a row of the piece at a time, as pairs at multiples of 4 bytes
// (store_by_pairs in warp_store.cuh says how).
template <class TC, int COLUMNS, bool ENGINE>
struct AnyRing : StoreRing<true, COLUMNS> {
  using Engine = StoreRing<true, COLUMNS>;
  const Output<TC>& out;
  const uint32_t* piece;  // the first buffer
  __device__ AnyRing(const unsigned char* buffers, const Output<TC>& out)
      : Engine(smem_addr(buffers)), out(out), piece(reinterpret_cast<const uint32_t*>(buffers)) {}
  template <class Pair>
  __device__ __forceinline__ void store(const CUtensorMap* map, int row, int col, Pair pair) {
    if constexpr (ENGINE) {
      Engine::store(map, row, col, pair);
    } else {
      __syncwarp();  // the piece before has been read
      Engine::put(this->addr, pair);
      __syncwarp();
      store_pairs(row, col);
    }
  }
  __device__ __forceinline__ void store_pairs(int row, int col) const {
    const int lane_id = threadIdx.x % 32;
    const int width = min(COLUMNS, out.N - col), height = min(16, out.M - row);
    TC* to = out.C + (size_t)row * out.N + col;
#pragma unroll 4
    for (int i = 0; i < 16; ++i, to += out.N) {
      const uint32_t pair = piece[swizzle<3, 3>(i * 64 + lane_id * 2 % COLUMNS) / 2];
      const uint32_t next = __shfl_down_sync(0xffffffffu, pair, 1);
      const bool odd = reinterpret_cast<size_t>(to) % 4 != 0, inside = i < height;
      const int first = 2 * lane_id + odd;
      const uint32_t aligned = odd ? pair >> 16 | next << 16 : pair;
      if (inside && first + 1 < width) *reinterpret_cast<uint32_t*>(to + first) = aligned;
      if (inside && first + 1 == width) *reinterpret_cast<uint16_t*>(to + first) = aligned;
      if (inside && odd && lane_id == 0 && width > 0) *reinterpret_cast<uint16_t*>(to) = pair;
    }
  }
};
