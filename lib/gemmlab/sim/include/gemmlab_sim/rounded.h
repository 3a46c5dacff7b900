// Arithmetic that rounds towards minus infinity (_rd), plus infinity (_ru) or zero (_rz): done by
// this machine in that mode.
#pragma once
#include <cfenv>
#include <cmath>

#include "qualifiers.h"

namespace gemmlab_sim {
// Rounds so while it lives.
class Rounding {
 public:
  explicit Rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  const int before_;
};

// Not inlined, and volatile: else the compiler may compute while another mode is set. Not
// sanitized, as these are no accesses to a kernel's memory.
template <class T, class Compute>
__attribute__((noinline, no_sanitize_thread)) T rounded(int mode, Compute compute, T a, T b = 0,
                                                        T c = 0) {
  volatile T x = a, y = b, z = c, result;
  const Rounding there(mode);
  result = compute(x, y, z);
  return result;
}
}  // namespace gemmlab_sim

#define GEMMLAB_ROUNDED(T, name, parameters, arguments, value)                                     \
  __forceinline__ T name##_rd parameters {                                                         \
    return gemmlab_sim::rounded<T>(FE_DOWNWARD, [](T a, T b, T c) { return value; }, arguments);   \
  }                                                                                                \
  __forceinline__ T name##_ru parameters {                                                         \
    return gemmlab_sim::rounded<T>(FE_UPWARD, [](T a, T b, T c) { return value; }, arguments);     \
  }                                                                                                \
  __forceinline__ T name##_rz parameters {                                                         \
    return gemmlab_sim::rounded<T>(FE_TOWARDZERO, [](T a, T b, T c) { return value; }, arguments); \
  }
#define GEMMLAB_TWO a, b
#define GEMMLAB_THREE a, b, c
GEMMLAB_ROUNDED(float, __fadd, (float a, float b), GEMMLAB_TWO, a + b)
GEMMLAB_ROUNDED(float, __fsub, (float a, float b), GEMMLAB_TWO, a - b)
GEMMLAB_ROUNDED(float, __fmul, (float a, float b), GEMMLAB_TWO, a* b)
GEMMLAB_ROUNDED(float, __fdiv, (float a, float b), GEMMLAB_TWO, a / b)
GEMMLAB_ROUNDED(float, __frcp, (float a), a, 1 / a)
GEMMLAB_ROUNDED(float, __fsqrt, (float a), a, std::sqrt(a))
GEMMLAB_ROUNDED(float, __fmaf, (float a, float b, float c), GEMMLAB_THREE, std::fma(a, b, c))
GEMMLAB_ROUNDED(double, __dadd, (double a, double b), GEMMLAB_TWO, a + b)
GEMMLAB_ROUNDED(double, __dsub, (double a, double b), GEMMLAB_TWO, a - b)
GEMMLAB_ROUNDED(double, __dmul, (double a, double b), GEMMLAB_TWO, a* b)
GEMMLAB_ROUNDED(double, __ddiv, (double a, double b), GEMMLAB_TWO, a / b)
GEMMLAB_ROUNDED(double, __drcp, (double a), a, 1 / a)
GEMMLAB_ROUNDED(double, __dsqrt, (double a), a, std::sqrt(a))
GEMMLAB_ROUNDED(double, __fma, (double a, double b, double c), GEMMLAB_THREE, std::fma(a, b, c))
#undef GEMMLAB_TWO
#undef GEMMLAB_THREE
#undef GEMMLAB_ROUNDED
