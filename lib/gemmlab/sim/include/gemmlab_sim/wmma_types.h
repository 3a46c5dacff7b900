// nvcuda::wmma with operands of 32, 8 and 64 bits, included by mma.h: tf32 as m16n16k8, int8 as
// m16n16k16, m32n8k16 and m8n32k16, double as m8n8k4.
//
// A fragment is registers of mma.sync.m16n8k8, m16n8k16 and m8n8k4 (PTX ISA, "Matrix Fragments").
// How memory is accessed, from the machine code that nvcc 13.0 makes for sm_90a: an access for each
// element of tf32 and double; bytes that lie side by side along k by ldmatrix in shared memory and
// four at a time elsewhere, other bytes one at a time. Of sums it was not looked at.
#pragma once
#include "warp.h"

namespace nvcuda {
namespace wmma {

namespace precision {
struct tf32;
}

// As cvt.rna.tf32: to nearest, ties away from zero.
__forceinline__ float __float_to_tf32(float value) {
  uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7f800000) != 0x7f800000) bits += 0x1000;
  return __uint_as_float(bits & ~0x1fffu);
}

namespace detail {

template <class T>
constexpr bool is_byte = std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

// k is a piece's column; `along_k` if neighbours of one row lie side by side in memory.
template <bool AlongK>
__forceinline__ size_t offset_at(int row, int k, unsigned ldm) {
  return AlongK ? size_t(row) * ldm + k : size_t(k) * ldm + row;
}

// Four bytes of a row: one access where they lie side by side.
template <bool AlongK, class T>
__forceinline__ void load_bytes(T* x, const T* p, int row, int k, unsigned ldm) {
  if constexpr (AlongK)
    *reinterpret_cast<uint32_t*>(x) =
        *reinterpret_cast<const uint32_t*>(p + offset_at<true>(row, k, ldm));
  else
    for (int i = 0; i < 4; ++i) x[i] = p[offset_at<false>(row, k + i, ldm)];
}

// Two bytes as two halves, which hold any of them exactly.
template <class T>
__forceinline__ uint32_t halves_of(const T* x) {
  const __half two[2] = {__half(float(x[0])), __half(float(x[1]))};
  return pair_of(two);
}

}  // namespace detail

// ---- tf32: elements are floats of which the multiplication drops the lowest 13 bits ----

template <class Use, class Layout>
struct fragment<Use, 16, 16, 8, precision::tf32, Layout> {
  enum { num_elements = 4, num_storage_elements = 4 };
  float x[4];
};

template <class Use, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, 16, 16, 8, precision::tf32, Layout>& f,
                                      const float* p, unsigned ldm, int line = __builtin_LINE()) {
  constexpr bool is_a = std::is_same_v<Use, matrix_a>, along_k = detail::is_straight<Use, Layout>;
  const int row = detail::lane() / 4, k = detail::lane() % 4;
  sim_wmma(SIM_WMMA_LOAD, line);
  for (int i = 0; i < 4; ++i) {
    const int down = is_a ? i % 2 : i / 2, right = is_a ? i / 2 : i % 2;
    f.x[i] = p[detail::offset_at<along_k>(row + 8 * down, k + 4 * right, ldm)];
  }
}

template <class LayoutA, class LayoutB>
__forceinline__ void mma_sync(fragment<accumulator, 16, 16, 8, float>& d,
                              const fragment<matrix_a, 16, 16, 8, precision::tf32, LayoutA>& a,
                              const fragment<matrix_b, 16, 16, 8, precision::tf32, LayoutB>& b,
                              const fragment<accumulator, 16, 16, 8, float>& c,
                              int line = __builtin_LINE()) {
  const SimRegs4 wide = {__float_as_uint(a.x[0]), __float_as_uint(a.x[1]), __float_as_uint(a.x[2]),
                         __float_as_uint(a.x[3])};
  for (int part = 0; part < 2; ++part) {
    const float* add = c.x + 4 * part;
    const SimFloats4 sum =
        sim_mma(SIM_MMA_TF32_K8, wide, __float_as_uint(b.x[2 * part]),
                __float_as_uint(b.x[2 * part + 1]), {add[0], add[1], add[2], add[3]}, line);
    float* to = d.x + 4 * part;
    to[0] = sum.d0, to[1] = sum.d1, to[2] = sum.d2, to[3] = sum.d3;
  }
}

// ---- signed and unsigned char ----

template <class Use, class T, class Layout>
__forceinline__ void load_bytes_sync(T* x, const T* p, unsigned ldm, int registers, int line) {
  constexpr bool along_k = detail::is_straight<Use, Layout>;
  sim_wmma(SIM_WMMA_LOAD, line);
  if (along_k && sim_shared_address(p) != SIM_NO_SHARED_ADDRESS) {
    // Lane 8i + r points to row r of register i.
    const unsigned row = detail::lane() % (8 * registers);
    const SimRegs4 r =
        sim_ldmatrix(sim_shared_address(p + size_t(row) * ldm), unsigned(registers), false, line);
    const uint32_t all[4] = {r.r0, r.r1, r.r2, r.r3};
    for (int i = 0; i < registers; ++i) *reinterpret_cast<uint32_t*>(x + 4 * i) = all[i];
    return;
  }
  for (int i = 0; i < registers; ++i)
    detail::load_bytes<along_k>(x + 4 * i, p, int(detail::lane() / 4) + 8 * i,
                                int(detail::lane() % 4) * 4, ldm);
}
template <class Use, int M, int N, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, M, N, 16, signed char, Layout>& f,
                                      const signed char* p, unsigned ldm,
                                      int line = __builtin_LINE()) {
  load_bytes_sync<Use, signed char, Layout>(f.x, p, ldm, f.num_elements / 4, line);
}
template <class Use, int M, int N, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, M, N, 16, unsigned char, Layout>& f,
                                      const unsigned char* p, unsigned ldm,
                                      int line = __builtin_LINE()) {
  load_bytes_sync<Use, unsigned char, Layout>(f.x, p, ldm, f.num_elements / 4, line);
}

// By products of halves, whose sums are exact: each is below 2^24. Which k meets which is the same
// in both operands, so their order does not matter. saturates: at the limits of int.
template <int M, int N, class T, class LayoutA, class LayoutB,
          class = std::enable_if_t<detail::is_byte<T>>>
__forceinline__ void mma_sync(fragment<accumulator, M, N, 16, int>& d,
                              const fragment<matrix_a, M, N, 16, T, LayoutA>& a,
                              const fragment<matrix_b, M, N, 16, T, LayoutB>& b,
                              const fragment<accumulator, M, N, 16, int>& c, bool saturates = false,
                              int line = __builtin_LINE()) {
  for (int part = 0; part < 2; ++part) {
    const T* wide = (M == 8 ? b.x : a.x) + (M == 16 ? 0 : 8 * part);
    const T* narrow = (M == 8 ? a.x : b.x) + (M == 16 ? 4 * part : 0);
    const SimRegs4 registers = {detail::halves_of(wide), detail::halves_of(wide + 4),
                                detail::halves_of(wide + 2), detail::halves_of(wide + 6)};
    const SimFloats4 sum = sim_mma(SIM_MMA_F16_K16, registers, detail::halves_of(narrow),
                                   detail::halves_of(narrow + 2), {0, 0, 0, 0}, line);
    const float sums[4] = {sum.d0, sum.d1, sum.d2, sum.d3};
    for (int i = 0; i < 4; ++i) {
      const long long all = (long long)(sums[i]) + c.x[4 * part + i];
      const long long most = 0x7fffffff;
      d.x[4 * part + i] = int(!saturates ? all : all > most ? most : all < ~most ? ~most : all);
    }
  }
}

// ---- double ----

template <class Use, class Layout>
struct fragment<Use, 8, 8, 4, double, Layout> {
  enum { num_elements = 1, num_storage_elements = 1 };
  double x[1];
};
template <>
struct fragment<accumulator, 8, 8, 4, double, void> {
  enum { num_elements = 2, num_storage_elements = 2 };
  double x[2];
};

template <class Use, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, 8, 8, 4, double, Layout>& f, const double* p,
                                      unsigned ldm, int line = __builtin_LINE()) {
  sim_wmma(SIM_WMMA_LOAD, line);
  f.x[0] = p[detail::offset_at<detail::is_straight<Use, Layout>>(int(detail::lane() / 4),
                                                                 int(detail::lane() % 4), ldm)];
}
__forceinline__ size_t offset_of_sum(int i, unsigned ldm, layout_t layout) {
  const int row = int(detail::lane() / 4), column = int(detail::lane() % 4) * 2 + i;
  return layout == mem_row_major ? size_t(row) * ldm + column : size_t(column) * ldm + row;
}
__forceinline__ void load_matrix_sync(fragment<accumulator, 8, 8, 4, double>& f, const double* p,
                                      unsigned ldm, layout_t layout, int line = __builtin_LINE()) {
  sim_wmma(SIM_WMMA_LOAD, line);
  if (layout == mem_row_major) {
    const double2 pair = *reinterpret_cast<const double2*>(p + offset_of_sum(0, ldm, layout));
    f.x[0] = pair.x, f.x[1] = pair.y;
  } else {
    for (int i = 0; i < 2; ++i) f.x[i] = p[offset_of_sum(i, ldm, layout)];
  }
}
__forceinline__ void store_matrix_sync(double* p, const fragment<accumulator, 8, 8, 4, double>& f,
                                       unsigned ldm, layout_t layout, int line = __builtin_LINE()) {
  sim_wmma(SIM_WMMA_STORE, line);
  if (layout == mem_row_major)
    *reinterpret_cast<double2*>(p + offset_of_sum(0, ldm, layout)) = make_double2(f.x[0], f.x[1]);
  else
    for (int i = 0; i < 2; ++i) p[offset_of_sum(i, ldm, layout)] = f.x[i];
}

// The warp's lanes hand each other what they multiply: there is no double among the forms of
// sim_mma.
template <class LayoutA, class LayoutB>
__forceinline__ void mma_sync(fragment<accumulator, 8, 8, 4, double>& d,
                              const fragment<matrix_a, 8, 8, 4, double, LayoutA>& a,
                              const fragment<matrix_b, 8, 8, 4, double, LayoutB>& b,
                              const fragment<accumulator, 8, 8, 4, double>& c,
                              int line = __builtin_LINE()) {
  const int row = int(detail::lane() / 4), column = int(detail::lane() % 4) * 2;
  double sums[2] = {c.x[0], c.x[1]};
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(~0u, a.x[0], 4 * row + k, 32, line);
    for (int i = 0; i < 2; ++i)
      sums[i] = fma(left, __shfl_sync(~0u, b.x[0], 4 * (column + i) + k, 32, line), sums[i]);
  }
  d.x[0] = sums[0], d.x[1] = sums[1];
}

}  // namespace wmma
}  // namespace nvcuda
