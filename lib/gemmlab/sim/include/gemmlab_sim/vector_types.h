// float4 and its relatives. They are copied through one machine word or vector, never member by
// member: otherwise the compiler takes a 16-byte access apart into four of 4 bytes.
#pragma once
#include <cstdint>

namespace gemmlab_sim {

// The type that moves `Bytes` bytes in one access.
template <int Bytes>
struct Whole;
template <>
struct Whole<2> {
  using type = uint16_t __attribute__((may_alias));
};
template <>
struct Whole<4> {
  using type = uint32_t __attribute__((may_alias));
};
template <>
struct Whole<8> {
  using type = uint64_t __attribute__((may_alias));
};
template <>
struct Whole<16> {
  using type = uint32_t __attribute__((vector_size(16), may_alias));
};

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
  union {
    struct {
      T x, y;
    };
    typename Whole<2 * sizeof(T)>::type whole;
  };
  Vector2() = default;
  constexpr Vector2(T a, T b) : x(a), y(b) {}
  Vector2(const Vector2& other) : whole(other.whole) {}
  Vector2& operator=(const Vector2& other) {
    whole = other.whole;
    return *this;
  }
};

template <class T>
struct alignas(4 * sizeof(T)) Vector4 {
  union {
    struct {
      T x, y, z, w;
    };
    typename Whole<4 * sizeof(T)>::type whole;
  };
  Vector4() = default;
  constexpr Vector4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  Vector4(const Vector4& other) : whole(other.whole) {}
  Vector4& operator=(const Vector4& other) {
    whole = other.whole;
    return *this;
  }
};

// 32 bytes, which are two accesses of 16.
template <class T>
struct alignas(16) Vector4Wide {
  union {
    struct {
      T x, y, z, w;
    };
    typename Whole<16>::type halves[2];
  };
  Vector4Wide() = default;
  Vector4Wide(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  Vector4Wide(const Vector4Wide& other) : halves{other.halves[0], other.halves[1]} {}
  Vector4Wide& operator=(const Vector4Wide& other) {
    halves[0] = other.halves[0];
    halves[1] = other.halves[1];
    return *this;
  }
};

// Three members are three accesses on the device too.
template <class T>
struct Vector3 {
  T x, y, z;
};

}  // namespace gemmlab_sim

#define GEMMLAB_VECTOR_2(name, T)          \
  using name##2 = gemmlab_sim::Vector2<T>; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }
#define GEMMLAB_VECTORS_WIDE(name, T)                                \
  GEMMLAB_VECTOR_2(name, T)                                          \
  using name##3 = gemmlab_sim::Vector3<T>;                           \
  using name##4 = gemmlab_sim::Vector4Wide<T>;                       \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define GEMMLAB_VECTORS(name, T)                                     \
  GEMMLAB_VECTOR_2(name, T)                                          \
  using name##3 = gemmlab_sim::Vector3<T>;                           \
  using name##4 = gemmlab_sim::Vector4<T>;                           \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

GEMMLAB_VECTORS(char, signed char)
GEMMLAB_VECTORS(uchar, unsigned char)
GEMMLAB_VECTORS(short, short)
GEMMLAB_VECTORS(ushort, unsigned short)
GEMMLAB_VECTORS(int, int)
GEMMLAB_VECTORS(uint, unsigned)
GEMMLAB_VECTORS(float, float)
GEMMLAB_VECTORS_WIDE(double, double)
GEMMLAB_VECTORS_WIDE(longlong, long long)
GEMMLAB_VECTORS_WIDE(ulonglong, unsigned long long)

#undef GEMMLAB_VECTORS
#undef GEMMLAB_VECTORS_WIDE
#undef GEMMLAB_VECTOR_2
