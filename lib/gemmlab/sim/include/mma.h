// Stand-in for CUDA's header of this name: nvcuda::wmma with 16-bit operands, as m16n16k16,
// m32n8k16 and m8n32k16; tf32, int8 and double are in gemmlab_sim/wmma_types.h.
//
// A fragment is registers of mma.sync.m16n8k16, as in the machine code that nvcc makes for sm_90.
// Each register holds an 8x8 "piece": lane l has row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1.
// The operands and the result of mma.sync are
//   wide    16 or 32 rows of 16 values of k: A, but B transposed for m8n32k16;
//   narrow  8 or 16 rows of 16 values of k: B transposed, but A for m8n32k16;
//   result  the rows of wide, the columns of narrow: D, but D transposed for m8n32k16.
//
// How memory is accessed, also from that machine code:
//   __half operands in shared memory: ldmatrix of four (two) pieces. nvcc does so where it can tell
//     that the pointer is one to shared memory, as in a kernel that names its array; here the
//     pointer's value tells;
//   other 16-bit pieces: a load (store) of 4 bytes each, then (first) movmatrix if a row of the
//     piece is a column of memory;
//   pieces of floats: 8 bytes each, or two of 4 if a row of the piece is a column of memory.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gemmlab_sim/abi_matrix.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace detail {

template <class Use>
constexpr bool is_sum = std::is_same_v<Use, accumulator>;

template <class Use, int M, int N>
constexpr int pieces_of = is_sum<Use> ? 4 : (std::is_same_v<Use, matrix_a> ? M : N) / 4;

// Elements a lane. CUDA gives all operands of __half 16 of them, in which the pieces repeat.
template <class Use, int M, int N, class T>
constexpr int elements_of =
    !is_sum<Use> && std::is_same_v<T, __half> ? 16 : 2 * pieces_of<Use, M, N>;

// A NaN; its upper half is one of __half.
constexpr uint32_t NEVER_FILLED = 0x7fa5c3e1;

__forceinline__ void forget(float& sum) { __builtin_memcpy(&sum, &NEVER_FILLED, sizeof sum); }
__forceinline__ void forget(__half& sum) { sum.bits = NEVER_FILLED >> 16; }
// An int may have any value, so that none says that it was never filled; its sums come out wrong.
__forceinline__ void forget(int& sum) { __builtin_memcpy(&sum, &NEVER_FILLED, sizeof sum); }
__forceinline__ bool is_forgotten(int) { return false; }
__forceinline__ bool is_forgotten(const float& sum) {
  return !__builtin_memcmp(&sum, &NEVER_FILLED, sizeof sum);
}
__forceinline__ bool is_forgotten(const __half& sum) { return sum.bits == NEVER_FILLED >> 16; }

}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert((K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32))) ||
                    (K == 8 && M == 16 && N == 16 && std::is_same_v<T, float>),
                "the simulator's wmma has m16n16k16, m32n8k16 and m8n32k16, m16n16k8 with "
                "precision::tf32 and m8n8k4 with double");
  static_assert(std::is_same_v<T, __half> ||
                    (detail::is_sum<Use> ? std::is_same_v<T, float> || std::is_same_v<T, int>
                                         : std::is_same_v<T, __nv_bfloat16> || sizeof(T) == 1),
                "the simulator's wmma multiplies __half, __nv_bfloat16, signed and unsigned char, "
                "precision::tf32 and double, and adds up in float, __half, int and double");
  enum { num_elements = detail::elements_of<Use, M, N, T>, num_storage_elements = num_elements };
  alignas(4) T x[num_elements];

  // On a GPU a sum holds whatever was in its registers; here a NaN that nothing computes.
  fragment() {
    if constexpr (detail::is_sum<Use>)
      for (T& element : x) detail::forget(element);
  }
};

namespace detail {

// A sum that was not filled is reported where it is used.
template <class T, int N>
__forceinline__ void refuse_unfilled(const T (&x)[N], bool is_stored) {
  if (is_forgotten(x[0])) sim_wmma_unfilled(is_stored);
}

// Where a piece begins in its operand or result.
struct Place {
  int row, column;
};

template <class Use, int M, int N>
constexpr Place place_of(int piece) {
  constexpr bool is_wide = std::is_same_v<Use, matrix_a> != (M == 8);
  // Two pieces for each mma.sync, which are side by side for m16n16k16, else one below the other.
  if (is_sum<Use>) return M == 16 ? Place{piece % 2 * 8, piece / 2 * 8} : Place{piece * 8, 0};
  if (is_wide) return {piece % 2 * 8 + piece / 4 * 16, piece / 2 % 2 * 8};
  return {piece / 2 * 8, piece % 2 * 8};
}

// A piece's rows lie in memory as they are ("straight"), or as columns.
template <class Use, class Layout>
constexpr bool is_straight = std::is_same_v<Use, matrix_a> == std::is_same_v<Layout, row_major>;
template <int M>
constexpr bool is_straight_sum(layout_t layout) {
  return (layout == mem_row_major) != (M == 8);
}

__forceinline__ unsigned lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

// Offset of an element of a piece.
__forceinline__ size_t offset_of(Place place, int row, int column, unsigned ldm, bool straight) {
  const size_t r = place.row + row, c = place.column + column;
  return straight ? r * ldm + c : c * ldm + r;
}

// Offset of the two neighbours that this lane moves: with straight rows, those of its register.
__forceinline__ size_t offset_of_pair(Place place, unsigned ldm, bool straight) {
  const int line = lane() / 4, at = lane() % 4 * 2;
  return straight ? offset_of(place, line, at, ldm, true) : offset_of(place, at, line, ldm, false);
}

template <class T>
__forceinline__ uint32_t& pair_of(T* p) {
  return *reinterpret_cast<uint32_t*>(p);
}
template <class T>
__forceinline__ uint32_t pair_of(const T* p) {
  return *reinterpret_cast<const uint32_t*>(p);
}

template <class Use, int M, int N, class T>
__forceinline__ void load_pairs(T* x, const T* p, unsigned ldm, bool straight, int line) {
  for (int i = 0; i < pieces_of<Use, M, N>; ++i) {
    const uint32_t pair = pair_of(p + offset_of_pair(place_of<Use, M, N>(i), ldm, straight));
    pair_of(x + 2 * i) = straight ? pair : sim_movmatrix(pair, line);
  }
}

// Lane 8i + r points to row r of piece i.
template <class Use, int M, int N>
__forceinline__ void load_by_ldmatrix(__half* x, const __half* p, unsigned ldm, bool straight,
                                      int line) {
  constexpr int TOGETHER = pieces_of<Use, M, N> == 2 ? 2 : 4;
  for (int first = 0; first < pieces_of<Use, M, N>; first += TOGETHER) {
    const Place place = place_of<Use, M, N>(first + lane() / 8 % TOGETHER);
    const int row = lane() % 8;
    const size_t offset =
        straight ? offset_of(place, row, 0, ldm, true) : offset_of(place, 0, row, ldm, false);
    const uint32_t row_addr = sim_shared_address(p + offset);
    const SimRegs4 r = sim_ldmatrix(row_addr, TOGETHER, !straight, line);
    const uint32_t all[4] = {r.r0, r.r1, r.r2, r.r3};
    for (int i = 0; i < TOGETHER; ++i) pair_of(x + 2 * (first + i)) = all[i];
  }
}

template <class T>
struct Same {
  using type = T;
};

// Two neighbours of a sum.
template <class T>
struct Two {
  T first, second;
};
template <class T>
__forceinline__ Two<T> two_at(const T* p) {
  if constexpr (std::is_same_v<T, int>) {
    const int2 pair = *reinterpret_cast<const int2*>(p);
    return {pair.x, pair.y};
  } else {
    const float2 pair = *reinterpret_cast<const float2*>(p);
    return {pair.x, pair.y};
  }
}
__forceinline__ void store_two(float* p, float first, float second) {
  *reinterpret_cast<float2*>(p) = make_float2(first, second);
}
__forceinline__ void store_two(int* p, int first, int second) {
  *reinterpret_cast<int2*>(p) = make_int2(first, second);
}

}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const T* p,
                                      unsigned ldm, int line = __builtin_LINE()) {
  constexpr bool straight = detail::is_straight<Use, Layout>;
  constexpr int unique = 2 * detail::pieces_of<Use, M, N>;
  sim_wmma(SIM_WMMA_LOAD, line);
  if constexpr (std::is_same_v<T, __half>) {
    if (sim_shared_address(p) != SIM_NO_SHARED_ADDRESS)
      detail::load_by_ldmatrix<Use, M, N>(f.x, p, ldm, straight, line);
    else
      detail::load_pairs<Use, M, N>(f.x, p, ldm, straight, line);
    for (int i = unique; i < f.num_elements; ++i) f.x[i] = f.x[i % unique];
  } else {
    detail::load_pairs<Use, M, N>(f.x, p, ldm, straight, line);
  }
}

template <int M, int N, int K, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p,
                                      unsigned ldm, layout_t layout, int line = __builtin_LINE()) {
  const bool straight = detail::is_straight_sum<M>(layout);
  sim_wmma(SIM_WMMA_LOAD, line);
  if constexpr (std::is_same_v<T, __half>) {
    detail::load_pairs<accumulator, M, N>(f.x, p, ldm, straight, line);
  } else {
    const int row = detail::lane() / 4, column = detail::lane() % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      const detail::Place place = detail::place_of<accumulator, M, N>(i);
      const T* first = p + detail::offset_of(place, row, column, ldm, straight);
      const detail::Two<T> pair =
          straight ? detail::two_at(first) : detail::Two<T>{first[0], first[ldm]};
      f.x[2 * i] = pair.first;
      f.x[2 * i + 1] = pair.second;
    }
  }
}

template <int M, int N, int K, class T>
__forceinline__ void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f,
                                       unsigned ldm, layout_t layout, int line = __builtin_LINE()) {
  const bool straight = detail::is_straight_sum<M>(layout);
  const int row = detail::lane() / 4, column = detail::lane() % 4 * 2;
  sim_wmma(SIM_WMMA_STORE, line);
  detail::refuse_unfilled(f.x, true);
  for (int i = 0; i < 4; ++i) {
    const detail::Place place = detail::place_of<accumulator, M, N>(i);
    if constexpr (std::is_same_v<T, __half>) {
      const uint32_t pair = detail::pair_of(f.x + 2 * i);
      T* const to = p + detail::offset_of_pair(place, ldm, straight);
      detail::pair_of(to) = straight ? pair : sim_movmatrix(pair, line);
    } else {
      T* const first = p + detail::offset_of(place, row, column, ldm, straight);
      if (straight) {
        detail::store_two(first, f.x[2 * i], f.x[2 * i + 1]);
      } else {
        first[0] = f.x[2 * i];
        first[ldm] = f.x[2 * i + 1];
      }
    }
  }
}

template <class Use, int M, int N, int K, class T, class Layout>
__forceinline__ void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                                   const typename detail::Same<T>::type& value) {
  for (T& element : f.x) element = value;
}

// Sums are fp32; those of a __half accumulator are rounded after each 16 values of k.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class TD, class TC>
__forceinline__ void mma_sync(fragment<accumulator, M, N, K, TD>& d,
                              const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                              const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                              const fragment<accumulator, M, N, K, TC>& c,
                              int line = __builtin_LINE()) {
  constexpr SimMma form = std::is_same_v<T, __half> ? SIM_MMA_F16_K16 : SIM_MMA_BF16_K16;
  detail::refuse_unfilled(c.x, false);
  for (int part = 0; part < 2; ++part) {
    const T* wide = (M == 8 ? b.x : a.x) + (M == 16 ? 0 : 8 * part);
    const T* narrow = (M == 8 ? a.x : b.x) + (M == 16 ? 4 * part : 0);
    const TC* add = c.x + 4 * part;
    const SimRegs4 registers = {detail::pair_of(wide), detail::pair_of(wide + 2),
                                detail::pair_of(wide + 4), detail::pair_of(wide + 6)};
    const SimFloats4 sum =
        sim_mma(form, registers, detail::pair_of(narrow), detail::pair_of(narrow + 2),
                {float(add[0]), float(add[1]), float(add[2]), float(add[3])}, line);
    TD* to = d.x + 4 * part;
    to[0] = sum.d0;
    to[1] = sum.d1;
    to[2] = sum.d2;
    to[3] = sum.d3;
  }
}

}  // namespace wmma
}  // namespace nvcuda

#include "gemmlab_sim/wmma_types.h"
