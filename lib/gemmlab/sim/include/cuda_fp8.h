// Stand-in for CUDA's header of this name: __nv_fp8_e4m3 and __nv_fp8_e5m2 as values, and their
// conversions; rounded to nearest, ties to even. No instruction of the simulator multiplies them.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;
enum __nv_saturation_t : int { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t : int { __NV_E4M3, __NV_E5M2 };

namespace gemmlab_sim {

// e4m3 has no infinities, and one NaN of each sign; e5m2 is as a half cut short.
template <__nv_fp8_interpretation_t Format>
struct Fp8Bits {
  static constexpr int MANTISSA = Format == __NV_E4M3 ? 3 : 2;
  static constexpr int BIAS = Format == __NV_E4M3 ? 7 : 15;
  static constexpr int MOST = Format == __NV_E4M3 ? 0x7e : 0x7b;  // the largest number's bits
  static constexpr int NOT_A_NUMBER = 0x7f;

  static float widen(unsigned char bits) {
    const int magnitude = bits & 0x7f, field = magnitude >> MANTISSA;
    const int fraction = magnitude & ((1 << MANTISSA) - 1);
    double value = field ? std::ldexp((1 << MANTISSA) + fraction, field - BIAS - MANTISSA)
                         : std::ldexp(fraction, 1 - BIAS - MANTISSA);
    if (magnitude > MOST) value = Format == __NV_E5M2 && fraction == 0 ? INFINITY : NAN;
    return float(bits & 0x80 ? -value : value);
  }

  static unsigned char narrow(double value, __nv_saturation_t saturation) {
    const int sign = std::signbit(value) ? 0x80 : 0;
    const double size = std::fabs(value);
    const int beyond = saturation == __NV_SATFINITE ? MOST : Format == __NV_E4M3 ? 0x7f : 0x7c;
    if (std::isnan(value)) return NOT_A_NUMBER;
    if (std::isinf(value)) return static_cast<unsigned char>(sign | beyond);
    int exponent = 1 - BIAS;  // of the smallest normal number
    if (size > 0 && std::ilogb(size) > exponent) exponent = std::ilogb(size);
    if (exponent > BIAS + 1) return static_cast<unsigned char>(sign | beyond);
    // In steps of the last place; a carry into the next exponent gives the right bits as well.
    const int steps = int(std::nearbyint(std::ldexp(size, MANTISSA - exponent)));
    const int bits = ((exponent + BIAS - 1) << MANTISSA) + steps;
    return static_cast<unsigned char>(sign | (bits > MOST ? beyond : bits));
  }
};

template <__nv_fp8_interpretation_t Format>
struct Fp8 {
  __nv_fp8_storage_t __x;
  Fp8() = default;
  template <class T>
  explicit Fp8(T value) : __x(Fp8Bits<Format>::narrow(double(value), __NV_SATFINITE)) {}
  explicit operator float() const { return Fp8Bits<Format>::widen(__x); }
  explicit operator double() const { return float(*this); }
  explicit operator __half() const { return float(*this); }
  explicit operator __nv_bfloat16() const { return float(*this); }
};

template <__nv_fp8_interpretation_t Format>
struct Fp8x2 {
  __nv_fp8x2_storage_t __x;
  Fp8x2() = default;
  explicit Fp8x2(float2 v) : __x(Fp8<Format>(v.x).__x | Fp8<Format>(v.y).__x << 8) {}
  explicit Fp8x2(__half2 v) : Fp8x2(__half22float2(v)) {}
  explicit Fp8x2(__nv_bfloat162 v) : Fp8x2(__bfloat1622float2(v)) {}
  explicit operator float2() const {
    return {Fp8Bits<Format>::widen(__x & 255),
            Fp8Bits<Format>::widen(static_cast<unsigned char>(__x >> 8))};
  }
  explicit operator __half2() const { return __float22half2_rn(float2(*this)); }
};
template <__nv_fp8_interpretation_t Format>
struct Fp8x4 {
  __nv_fp8x4_storage_t __x;
  Fp8x4() = default;
  explicit Fp8x4(float4 v) : Fp8x4(float2(v.x, v.y), float2(v.z, v.w)) {}
  // Pairs of halves or of bf16.
  template <class Pair>
  Fp8x4(Pair low, Pair high)
      : __x(Fp8x2<Format>(low).__x | unsigned(Fp8x2<Format>(high).__x) << 16) {}
  explicit operator float4() const {
    Fp8x2<Format> low, high;
    low.__x = __x & 0xffff, high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
    const float2 a = float2(low), b = float2(high);
    return {a.x, a.y, b.x, b.y};
  }
};

inline float widened(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? Fp8Bits<__NV_E4M3>::widen(bits) : Fp8Bits<__NV_E5M2>::widen(bits);
}

}  // namespace gemmlab_sim

using __nv_fp8_e4m3 = gemmlab_sim::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = gemmlab_sim::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = gemmlab_sim::Fp8x2<__NV_E4M3>;
using __nv_fp8x2_e5m2 = gemmlab_sim::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e4m3 = gemmlab_sim::Fp8x4<__NV_E4M3>;
using __nv_fp8x4_e5m2 = gemmlab_sim::Fp8x4<__NV_E5M2>;
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? gemmlab_sim::Fp8Bits<__NV_E4M3>::narrow(value, saturation)
                             : gemmlab_sim::Fp8Bits<__NV_E5M2>::narrow(value, saturation);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(value, saturation, format);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t format) {
  const unsigned low = __nv_cvt_float_to_fp8(value.x, saturation, format);
  const unsigned high = __nv_cvt_float_to_fp8(value.y, saturation, format);
  return static_cast<__nv_fp8x2_storage_t>(high << 8 | low);
}
// To the bits of a half, as CUDA's struct __half_raw has them.
struct __half_raw {
  unsigned short x;
  operator __half() const { return __half::of_bits(x); }
};
struct __half2_raw {
  unsigned short x, y;
  operator __half2() const { return {__half::of_bits(x), __half::of_bits(y)}; }
};
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits,
                                          __nv_fp8_interpretation_t format) {
  return {__half(gemmlab_sim::widened(bits, format)).bits};
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits,
                                              __nv_fp8_interpretation_t format) {
  return {__nv_cvt_fp8_to_halfraw(bits & 0xff, format).x,
          __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(bits >> 8), format).x};
}
