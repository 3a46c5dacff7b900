// __half and __nv_bfloat16: one template for both, with CUDA's functions on them. Arithmetic is
// done in double and rounded once, as the hardware's own instructions round; what nvcc may fuse
// into one fma is not fused here.
#pragma once
#include <cmath>
#include <type_traits>

#include "half_bits.h"
#include "vector_types.h"

namespace gemmlab_sim {

// a * b + c, where a * b is exact, rounded so that a second rounding to 16 bits is right: a sum
// that is not exact gets an odd last bit, and so is no tie of the narrower format.
inline double add_rounding_to_odd(double product, double addend) {
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  uint64_t bits = bits_as<uint64_t>(sum);
  if (std::isfinite(sum) && error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return bits_as<double>(bits);
}

#define GEMMLAB_HALF_ARITHMETIC(op, name)                                      \
  friend Float16 name(Float16 a, Float16 b) { return double(a) op double(b); } \
  friend Float16 name##_rn(Float16 a, Float16 b) { return name(a, b); }        \
  friend Float16 operator op(Float16 a, Float16 b) { return name(a, b); }      \
  friend Float16& operator op## = (Float16 & a, Float16 b) { return a = name(a, b); }
#define GEMMLAB_HALF_COMPARISON(op, name)                                 \
  friend bool name(Float16 a, Float16 b) { return float(a) op float(b); } \
  friend bool operator op(Float16 a, Float16 b) { return name(a, b); }

template <class Format>
struct Float16 {
  uint16_t bits;

  Float16() = default;
  Float16(float value) : bits(Format::narrow(value)) {}
  Float16(double value) : bits(Format::narrow(value)) {}
  template <class I, class = std::enable_if_t<std::is_integral_v<I> && sizeof(I) <= 4>>
  Float16(I value) : bits(Format::narrow(value)) {}

  operator float() const { return Format::widen(bits); }

  static Float16 of_bits(uint16_t bits) {
    Float16 value;
    value.bits = bits;
    return value;
  }

  // Friends, so that the other operand may be converted.
  GEMMLAB_HALF_ARITHMETIC(+, __hadd)
  GEMMLAB_HALF_ARITHMETIC(-, __hsub)
  GEMMLAB_HALF_ARITHMETIC(*, __hmul)
  GEMMLAB_HALF_ARITHMETIC(/, __hdiv)
  GEMMLAB_HALF_COMPARISON(==, __heq)
  GEMMLAB_HALF_COMPARISON(!=, __hne)
  GEMMLAB_HALF_COMPARISON(<, __hlt)
  GEMMLAB_HALF_COMPARISON(<=, __hle)
  GEMMLAB_HALF_COMPARISON(>, __hgt)
  GEMMLAB_HALF_COMPARISON(>=, __hge)

  friend Float16 __hfma(Float16 a, Float16 b, Float16 c) {
    return add_rounding_to_odd(double(a) * double(b), c);
  }
  friend Float16 __hneg(Float16 a) { return of_bits(a.bits ^ 0x8000); }
  friend Float16 operator-(Float16 a) { return __hneg(a); }
  friend Float16 __habs(Float16 a) { return of_bits(a.bits & 0x7fff); }
  friend Float16 __hmax(Float16 a, Float16 b) { return std::fmax(float(a), float(b)); }
  friend Float16 __hmin(Float16 a, Float16 b) { return std::fmin(float(a), float(b)); }
  friend bool __hisnan(Float16 a) { return (a.bits & 0x7fff) > Format::INFINITE; }
};

#undef GEMMLAB_HALF_ARITHMETIC
#undef GEMMLAB_HALF_COMPARISON

template <class F>
using Pair16 = Vector2<Float16<F>>;

#define GEMMLAB_HALF2_ARITHMETIC(op, name)                         \
  template <class F>                                               \
  inline Pair16<F> name(Pair16<F> a, Pair16<F> b) {                \
    return {a.x op b.x, a.y op b.y};                               \
  }                                                                \
  template <class F>                                               \
  inline Pair16<F> operator op(Pair16<F> a, Pair16<F> b) {         \
    return name(a, b);                                             \
  }                                                                \
  template <class F>                                               \
  inline Pair16<F>& operator op## = (Pair16<F> & a, Pair16<F> b) { \
    return a = name(a, b);                                         \
  }
GEMMLAB_HALF2_ARITHMETIC(+, __hadd2)
GEMMLAB_HALF2_ARITHMETIC(-, __hsub2)
GEMMLAB_HALF2_ARITHMETIC(*, __hmul2)
GEMMLAB_HALF2_ARITHMETIC(/, __h2div)
#undef GEMMLAB_HALF2_ARITHMETIC

template <class F>
inline Pair16<F> __hfma2(Pair16<F> a, Pair16<F> b, Pair16<F> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <class F>
inline Pair16<F> __hneg2(Pair16<F> a) {
  return {-a.x, -a.y};
}
template <class F>
inline Pair16<F> __hmax2(Pair16<F> a, Pair16<F> b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <class F>
inline Pair16<F> __hmin2(Pair16<F> a, Pair16<F> b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

// Functions of one half, and of both of a pair.
#define GEMMLAB_HALF_FUNCTION(name, value)     \
  template <class F>                           \
  inline Float16<F> h##name(Float16<F> half) { \
    const double a = float(half);              \
    return value;                              \
  }                                            \
  template <class F>                           \
  inline Pair16<F> h2##name(Pair16<F> a) {     \
    return {h##name(a.x), h##name(a.y)};       \
  }
GEMMLAB_HALF_FUNCTION(exp, std::exp(a))
GEMMLAB_HALF_FUNCTION(exp2, std::exp2(a))
GEMMLAB_HALF_FUNCTION(log, std::log(a))
GEMMLAB_HALF_FUNCTION(log2, std::log2(a))
GEMMLAB_HALF_FUNCTION(sqrt, std::sqrt(a))
GEMMLAB_HALF_FUNCTION(rsqrt, 1.0 / std::sqrt(a))
GEMMLAB_HALF_FUNCTION(rcp, 1.0 / a)
GEMMLAB_HALF_FUNCTION(sin, std::sin(a))
GEMMLAB_HALF_FUNCTION(cos, std::cos(a))
GEMMLAB_HALF_FUNCTION(floor, std::floor(a))
GEMMLAB_HALF_FUNCTION(ceil, std::ceil(a))
#undef GEMMLAB_HALF_FUNCTION

template <class F>
inline float __low2float(Pair16<F> a) {
  return a.x;
}
template <class F>
inline float __high2float(Pair16<F> a) {
  return a.y;
}

}  // namespace gemmlab_sim
