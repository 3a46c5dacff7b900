// A warpgroup's sums to C where rows of C begin anywhere, or where the product is C's transpose.
#pragma once
#include <ptx/smem.cuh>
#include <ptx/wgmma.cuh>

#include <type_traits>

#include "late_store.cuh"
#include "transposed_store.cuh"

// A thread's sums in C, from (row, col) on. TRANSPOSED: the product is C's transpose.
template <class TC, bool TRANSPOSED>
struct SumsInC {
  size_t down, along;  // elements from row to row of the product, and from column to column
  int rows, columns;   // of the product, from the first sum on
  TC* first;

  __device__ SumsInC(const Output<TC>& out, int row, int col)
      : down(TRANSPOSED ? 1 : out.N), along(TRANSPOSED ? out.M : 1) {
    const int2 at = sums_place();
    row += at.x, col += at.y;
    rows = out.M - row, columns = out.N - col, first = out.C + row * down + col * along;
  }
  // Of sum i, from the first one.
  __device__ static int m(int i) { return i / 2 % 2 * 8; }
  __device__ static int n(int i) { return i / 4 * 8 + i % 2; }
  __device__ bool has(int i) const { return m(i) < rows && n(i) < columns; }
  __device__ TC& operator[](int i) const { return first[m(i) * down + n(i) * along]; }
};

// As scale_sums; N is any.
template <bool TRANSPOSED, int COUNT, class TC>
__device__ __forceinline__ void scale_any(const Output<TC>& out, int row, int col,
                                          float (&acc)[COUNT]) {
  if (out.alpha == 1.0f && out.beta == 0.0f) return;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) acc[i] *= out.alpha;
  if (out.beta == 0.0f) return;
  const SumsInC<TC, TRANSPOSED> c(out, row, col);
#pragma unroll
  for (int i = 0; i < COUNT; ++i)
    if (c.has(i)) acc[i] += out.beta * to_float(c[i]);
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

// Scaled sums: in fp32 four at a time where the rows of C allow it, else one.
template <bool TRANSPOSED, int COUNT, class TC>
__device__ __forceinline__ void store_any(const Output<TC>& out, int row, int col,
                                          const float (&acc)[COUNT]) {
  if constexpr (!TRANSPOSED)
    if (out.N % 4 == 0 && reinterpret_cast<size_t>(out.C) % 16 == 0)
      return store_fours(out, row, col, acc);
  const SumsInC<TC, TRANSPOSED> c(out, row, col);
#pragma unroll
  for (int i = 0; i < COUNT; ++i)
    if (c.has(i)) c[i] = from_float<TC>(acc[i]);
}

// As store_rows, in the way of a plan S. ring: an AnyRing or a TransposedRing.
template <class S, class Ring, int COUNT, class TC>
__device__ __forceinline__ void store_any_rows(const Output<TC>& out, const CUtensorMap* map,
                                               Ring& ring, int row, int col,
                                               const float (&acc)[COUNT]) {
  if constexpr (is_half<TC> && (S::ENGINE || !S::TRANSPOSED))
    store_rows(out, map, ring, row, col, acc);
  else
    store_any<S::TRANSPOSED>(out, row, col, acc);
}

// A StoreRing whose pieces the engine takes, if rows of C begin where it can write them (ENGINE).
// Else the warp's lanes write them, a row of the piece at a time, as pairs at multiples of 4 bytes
// (store_by_pairs in warp_store.cuh says how).
template <class TC, int COLUMNS, bool ENGINE>
struct AnyRing : StoreRing<false, COLUMNS> {
  using Engine = StoreRing<false, COLUMNS>;
  const Output<TC>& out;
  const uint32_t* piece;  // the first buffer
  bool evict_first;
  __device__ AnyRing(const unsigned char* buffers, const Output<TC>& out, bool evict_first)
      : Engine(smem_addr(buffers)),
        out(out),
        piece(reinterpret_cast<const uint32_t*>(buffers)),
        evict_first(evict_first) {}
  template <class Pair>
  __device__ __forceinline__ void store(const CUtensorMap* map, int row, int col, Pair pair) {
    if constexpr (ENGINE) {
      Engine::store(map, row, col, pair, evict_first);
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

// What a plan S stores C by.
template <class TC, class S>
using RingOf = std::conditional_t<S::TRANSPOSED, TransposedRing<S::PIECE_COLUMNS>,
                                  AnyRing<TC, S::PIECE_COLUMNS, S::ENGINE>>;
