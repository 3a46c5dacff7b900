// mma.sync: a warp multiplies two small matrices on the tensor core and adds, d += a * b, with
// fp32 sums. A is m16 x k, row-major; B is k x n8, column-major; D is m16 x n8.
//
// With g = lane / 4 and q = lane % 4, a register of two 16-bit elements holds k and k + 1, the
// first in the low half:
//   a[0] (row g,     k = 2q)       a[2] (row g,     k = 2q + 8)
//   a[1] (row g + 8, k = 2q)       a[3] (row g + 8, k = 2q + 8)
//   b[0] (k = 2q, column g)        b[1] (k = 2q + 8, column g)
//   d[0], d[1] (row g, columns 2q, 2q + 1), d[2], d[3] (row g + 8, the same columns)
// For k8 the registers of k + 8 are missing. All 32 lanes must execute it together.
// PTX ISA, "Warp Level Matrix Instructions: mma.sync", "Matrix Fragments for mma.m16n8k16".
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

// [m16n8k16]
// T: __half or __nv_bfloat16.
template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2]) {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
  if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}
// [/m16n8k16]

// T: __half or __nv_bfloat16.
template <class T>
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const uint32_t (&a)[2],
                                            const uint32_t (&b)[1]) {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
  if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
}

// Operands are floats of which the tensor core uses the upper 19 bits, one a register:
//   a[0] (row g, k = q), a[1] (row g + 8, k = q), a[2] (row g, k = q + 4), a[3] (g + 8, q + 4)
//   b[0] (k = q, column g), b[1] (k = q + 4, column g)
// PTX ISA, "Matrix Fragments for mma.m16n8k8".
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// cvt.rna: a float rounded to the 10 mantissa bits of tf32, halves away from zero.
// PTX ISA, "Data Movement and Conversion Instructions: cvt".
__device__ __forceinline__ uint32_t to_tf32(float value) {
  uint32_t bits;
  asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
