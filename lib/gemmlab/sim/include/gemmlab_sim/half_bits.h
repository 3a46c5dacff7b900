// 16-bit floating-point formats as bits: to and from float, rounded as the hardware rounds. Used by
// kernels (half.h) and by the runtime (mma).
#pragma once
#include <cstdint>
#include <cstring>

namespace gemmlab_sim {

template <class To, class From>
__attribute__((always_inline)) inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits of one size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// A sign bit, `Exponent` bits, and `Mantissa` bits of the significand without its leading one.
template <int Exponent, int Mantissa>
struct Format16 {
  static constexpr int BIAS = (1 << (Exponent - 1)) - 1;
  static constexpr uint32_t INFINITE = ((1u << Exponent) - 1) << Mantissa;
  static constexpr uint16_t NOT_A_NUMBER = 0x7fff;  // the one that the hardware makes

  // Exact.
  static float widen(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t wide = magnitude << (23 - Mantissa);
    if (magnitude >= INFINITE)
      wide |= 0x7f800000;
    else if (Exponent < 8)
      // The exponent is taken for one of float's bias, too small by 127 - BIAS; so is that of a
      // denormal number, which is a denormal float up to here.
      wide = bits_as<uint32_t>(bits_as<float>(wide) * bits_as<float>((254u - BIAS) << 23));
    return bits_as<float>(wide | sign);
  }

  // To nearest, ties to even. Through double, which holds every float and int: one rounding.
  static uint16_t narrow(double value) {
    const uint64_t bits = bits_as<uint64_t>(value);
    const uint32_t sign = uint32_t(bits >> 48 & 0x8000);
    const int exponent = int(bits >> 52 & 0x7ff) - 1023;
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    if (exponent == 1024) return fraction ? NOT_A_NUMBER : uint16_t(sign | INFINITE);
    // Below the smallest normal number the spacing of values stays what it is there.
    const int least = 1 - BIAS;
    const int dropped = 52 - Mantissa + (exponent < least ? least - exponent : 0);
    if (dropped > 53) return uint16_t(sign);
    const uint64_t significand = fraction | uint64_t(1) << 52;
    const uint64_t rest = significand & ((uint64_t(1) << dropped) - 1);
    const uint64_t half = uint64_t(1) << (dropped - 1);
    uint64_t kept = significand >> dropped;
    kept += rest > half || (rest == half && (kept & 1));
    // `kept` has the leading one, so it raises the exponent field by one; a carry is right.
    const int field = exponent < least ? 0 : exponent - least;
    const uint64_t magnitude = (uint64_t(field) << Mantissa) + kept;
    return uint16_t(sign | (magnitude < INFINITE ? magnitude : INFINITE));
  }
};

using HalfFormat = Format16<5, 10>;
using BfloatFormat = Format16<8, 7>;

}  // namespace gemmlab_sim
