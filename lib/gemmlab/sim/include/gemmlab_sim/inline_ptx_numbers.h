// Of inline PTX: registers, arithmetic, comparisons and conversions.
#pragma once
#include "inline_ptx_registers.h"

namespace gemmlab_ptx {

// d = function(a, ...), all of type T.
#define GEMMLAB_PTX_2(name, value)                           \
  template <class T, class D, class A, class B>              \
  __forceinline__ void name(D&& d, const A& x, const B& y) { \
    const T a = get<T>(x), b = get<T>(y);                    \
    put<T>(d, T(value));                                     \
  }
#define GEMMLAB_PTX_1(name, value)               \
  template <class T, class D, class A>           \
  __forceinline__ void name(D&& d, const A& x) { \
    const T a = get<T>(x);                       \
    put<T>(d, T(value));                         \
  }
#define GEMMLAB_PTX_3(name, value)                                       \
  template <class T, class D, class A, class B, class C>                 \
  __forceinline__ void name(D&& d, const A& x, const B& y, const C& z) { \
    const T a = get<T>(x), b = get<T>(y), c = get<T>(z);                 \
    put<T>(d, T(value));                                                 \
  }
GEMMLAB_PTX_1(mov, a)
GEMMLAB_PTX_1(neg, -a)
GEMMLAB_PTX_1(not_, ~a)
GEMMLAB_PTX_1(abs_, a < T(0) ? -a : a)
GEMMLAB_PTX_1(ex2, std::exp2(a))
GEMMLAB_PTX_1(lg2, std::log2(a))
GEMMLAB_PTX_1(rcp, T(1) / a)
GEMMLAB_PTX_1(sqrt_, std::sqrt(a))
GEMMLAB_PTX_1(rsqrt_, T(1) / std::sqrt(a))
GEMMLAB_PTX_1(tanh_, std::tanh(a))
GEMMLAB_PTX_1(sin_, std::sin(a))
GEMMLAB_PTX_1(cos_, std::cos(a))
GEMMLAB_PTX_1(popc, __builtin_popcountll(a))
GEMMLAB_PTX_1(brev, __brev(a))
GEMMLAB_PTX_2(add, a + b)
GEMMLAB_PTX_2(sub, a - b)
GEMMLAB_PTX_2(mul, a* b)
GEMMLAB_PTX_2(div_, a / b)
GEMMLAB_PTX_2(rem, a % b)
GEMMLAB_PTX_2(min_, b < a ? b : a)
GEMMLAB_PTX_2(max_, a < b ? b : a)
GEMMLAB_PTX_2(and_, a& b)
GEMMLAB_PTX_2(or_, a | b)
GEMMLAB_PTX_2(xor_, a ^ b)
GEMMLAB_PTX_3(mad, a* b + c)
GEMMLAB_PTX_3(fma, std::fma(a, b, c))
GEMMLAB_PTX_3(prmt, __byte_perm(a, b, c))
#undef GEMMLAB_PTX_1
#undef GEMMLAB_PTX_2
#undef GEMMLAB_PTX_3

// A shift by more than the width leaves nothing; of a signed number, its sign.
template <class T, class D, class A, class B>
__forceinline__ void shl(D&& d, const A& a, const B& by) {
  const uint32_t count = get<uint32_t>(by);
  put<T>(d, count < 8 * sizeof(T) ? T(get<T>(a) << count) : T(0));
}
template <class T, class D, class A, class B>
__forceinline__ void shr(D&& d, const A& a, const B& by) {
  const uint32_t count = get<uint32_t>(by), most = 8 * sizeof(T) - 1;
  const T value = get<T>(a);
  put<T>(d, count <= most ? T(value >> count) : std::is_signed_v<T> ? T(value >> most) : T(0));
}
template <class T, class D, class A, class B>
__forceinline__ void mul_hi(D&& d, const A& a, const B& b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  put<T>(d, T(Wide(get<T>(a)) * Wide(get<T>(b)) >> 32));
}
template <class T, class D, class A, class B>
__forceinline__ void mul_wide(D&& d, const A& a, const B& b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  put<Wide>(d, Wide(get<T>(a)) * Wide(get<T>(b)));
}
// Every bit of the result is the bit of `table` that the three operands' bits number.
template <class D, class A, class B, class C, class Table>
__forceinline__ void lop3(D&& d, const A& x, const B& y, const C& z, const Table& table) {
  const uint32_t a = get<uint32_t>(x), b = get<uint32_t>(y), c = get<uint32_t>(z);
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i)
    if (get<uint32_t>(table) >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  put<uint32_t>(d, result);
}
// The distances of four bytes, added up.
template <class D, class A, class B, class C>
__forceinline__ void vabsdiff4_add(D&& d, const A& x, const B& y, const C& z) {
  const uint32_t a = get<uint32_t>(x), b = get<uint32_t>(y);
  uint32_t sum = get<uint32_t>(z);
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const uint32_t one = a >> shift & 255, other = b >> shift & 255;
    sum += one > other ? one - other : other - one;
  }
  put<uint32_t>(d, sum);
}
template <class D, class A, class B>
__forceinline__ void pack16(D&& d, const A& low, const B& high) {
  put<uint32_t>(d, uint32_t(get<uint16_t>(low)) | uint32_t(get<uint16_t>(high)) << 16);
}
template <class D, class A, class B>
__forceinline__ void pack32(D&& d, const A& low, const B& high) {
  put<uint64_t>(d, uint64_t(get<uint32_t>(low)) | uint64_t(get<uint32_t>(high)) << 32);
}
template <class D, class E, class A>
__forceinline__ void unpack16(D&& low, E&& high, const A& a) {
  put<uint16_t>(low, uint16_t(get<uint32_t>(a)));
  put<uint16_t>(high, uint16_t(get<uint32_t>(a) >> 16));
}
template <class D, class E, class A>
__forceinline__ void unpack32(D&& low, E&& high, const A& a) {
  put<uint32_t>(low, uint32_t(get<uint64_t>(a)));
  put<uint32_t>(high, uint32_t(get<uint64_t>(a) >> 32));
}

// setp and selp.
#define GEMMLAB_PTX_SETP(name, op)                                    \
  template <class T, class A, class B>                                \
  __forceinline__ void setp_##name(bool& p, const A& a, const B& b) { \
    p = get<T>(a) op get<T>(b);                                       \
  }
GEMMLAB_PTX_SETP(eq, ==)
GEMMLAB_PTX_SETP(ne, !=)
GEMMLAB_PTX_SETP(lt, <)
GEMMLAB_PTX_SETP(le, <=)
GEMMLAB_PTX_SETP(gt, >)
GEMMLAB_PTX_SETP(ge, >=)
#undef GEMMLAB_PTX_SETP
template <class T, class D, class A, class B>
__forceinline__ void selp(D&& d, const A& a, const B& b, bool p) {
  put<T>(d, p ? get<T>(a) : get<T>(b));
}

// Conversions, rounded to nearest unless to an integer by .rzi.
template <class To, class From, class D, class A>
__forceinline__ void cvt(D&& d, const A& a) {
  put<To>(d, static_cast<To>(get<From>(a)));
}
template <class To, class From, class D, class A>
__forceinline__ void cvt_nearest(D&& d, const A& a) {
  put<To>(d, static_cast<To>(std::nearbyint(get<From>(a))));
}
template <class T, class D, class A>  // T: __half or __nv_bfloat16
__forceinline__ void cvt_to_16(D&& d, const A& a) {
  put<uint16_t>(d, T(get<float>(a)).bits);
}
template <class T, class D, class A>
__forceinline__ void cvt_from_16(D&& d, const A& a) {
  put<float>(d, float(T::of_bits(get<uint16_t>(a))));
}
template <class T, class D, class A, class B>
__forceinline__ void cvt_to_pair(D&& d, const A& high, const B& low) {
  pack16(d, T(get<float>(low)).bits, T(get<float>(high)).bits);
}
template <class D, class A>
__forceinline__ void cvt_to_tf32(D&& d, const A& a) {
  put<uint32_t>(d, to_tf32(get<float>(a)));
}
template <class T, class D, class A, class B, class C>
__forceinline__ void fma_pair(D&& d, const A& x, const B& y, const C& z) {
  uint16_t sums[2];
  const uint32_t a = get<uint32_t>(x), b = get<uint32_t>(y), c = get<uint32_t>(z);
  for (int i = 0; i < 2; ++i)
    sums[i] =
        __hfma(T::of_bits(a >> 16 * i), T::of_bits(b >> 16 * i), T::of_bits(c >> 16 * i)).bits;
  pack16(d, sums[0], sums[1]);
}

}  // namespace gemmlab_ptx
