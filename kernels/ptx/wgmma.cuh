// wgmma.mma_async: a warpgroup (four warps, the first one's number a multiple of 4) multiplies on
// the tensor core while its threads go on: D = A * B, or D += A * B, with fp32 sums. A is 64 x k16,
// B is k16 x N, D is 64 x N; N is a multiple of 8 up to 256.
//
// D: 64 * N elements over 128 threads, N / 2 registers each. Warp w of the warpgroup has rows 16w
// to 16w + 15; with g = lane / 4 and q = lane % 4
//   d[4j], d[4j + 1]      row 16w + g,     columns 8j + 2q, 8j + 2q + 1
//   d[4j + 2], d[4j + 3]  row 16w + g + 8, the same columns
// A in registers: two elements each, k and k + 1, the first in the low half,
//   a[0] (row 16w + g,     k = 2q)      a[2] (row 16w + g,     k = 2q + 8)
//   a[1] (row 16w + g + 8, k = 2q)      a[3] (row 16w + g + 8, k = 2q + 8)
// A and B in shared memory: a descriptor says where and in which layout
// (common/tile/wgmma_descriptor.cuh).
//
// In between, registers and shared memory belong to the tensor core. The order of things is
//   fence_proxy_async()   if threads have written the operands to shared memory; then a barrier
//   wgmma_fence()         before the first one, and after the threads' own use of d or a
//   wgmma_m64k16(...)     any number
//   wgmma_commit()        makes one group of those since the last commit
//   wgmma_wait<N>()       until at most the N newest groups are unfinished
// All 128 threads execute each of them, with the same descriptors. Only for sm_90a.
// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Orders the threads' own accesses to d and a before those of the wgmma that follow.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Takes four values out of the registers of d, after a wait. Else ptxas may keep d as the code
// behind the wait wants it, in groups of four for a store, say: then it moves all of d beside the
// wgmma, and waits for each group of them to do so (its message C7517).
__device__ __forceinline__ void wgmma_detach(float (&x)[4]) {
  asm volatile("" : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]));
}

// Zeros in registers of d. Where they are seldom needed, they stay behind a branch: without the
// empty asm, which is volatile, they would become selects, which every tile executes for each sum.
template <int COUNT>
__device__ __forceinline__ void wgmma_clear(float (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) d[i] = 0.0f;
  asm volatile("");
}

namespace ptx {

// One specialisation for each shape and type, because inline PTX names every register.
template <int N, class T>
struct Wgmma;

// The N / 2 names of D's registers in the text of the instruction, and the operands that they are.
#define WGMMA_NAMES8 "%0, %1, %2, %3"
#define WGMMA_NAMES16 WGMMA_NAMES8 ", %4, %5, %6, %7"
#define WGMMA_NAMES24 WGMMA_NAMES16 ", %8, %9, %10, %11"
#define WGMMA_NAMES32 WGMMA_NAMES24 ", %12, %13, %14, %15"
#define WGMMA_NAMES40 WGMMA_NAMES32 ", %16, %17, %18, %19"
#define WGMMA_NAMES48 WGMMA_NAMES40 ", %20, %21, %22, %23"
#define WGMMA_NAMES56 WGMMA_NAMES48 ", %24, %25, %26, %27"
#define WGMMA_NAMES64 WGMMA_NAMES56 ", %28, %29, %30, %31"
#define WGMMA_NAMES72 WGMMA_NAMES64 ", %32, %33, %34, %35"
#define WGMMA_NAMES80 WGMMA_NAMES72 ", %36, %37, %38, %39"
#define WGMMA_NAMES88 WGMMA_NAMES80 ", %40, %41, %42, %43"
#define WGMMA_NAMES96 WGMMA_NAMES88 ", %44, %45, %46, %47"
#define WGMMA_NAMES104 WGMMA_NAMES96 ", %48, %49, %50, %51"
#define WGMMA_NAMES112 WGMMA_NAMES104 ", %52, %53, %54, %55"
#define WGMMA_NAMES120 WGMMA_NAMES112 ", %56, %57, %58, %59"
#define WGMMA_NAMES128 WGMMA_NAMES120 ", %60, %61, %62, %63"
#define WGMMA_NAMES136 WGMMA_NAMES128 ", %64, %65, %66, %67"
#define WGMMA_NAMES144 WGMMA_NAMES136 ", %68, %69, %70, %71"
#define WGMMA_NAMES152 WGMMA_NAMES144 ", %72, %73, %74, %75"
#define WGMMA_NAMES160 WGMMA_NAMES152 ", %76, %77, %78, %79"
#define WGMMA_NAMES168 WGMMA_NAMES160 ", %80, %81, %82, %83"
#define WGMMA_NAMES176 WGMMA_NAMES168 ", %84, %85, %86, %87"
#define WGMMA_NAMES184 WGMMA_NAMES176 ", %88, %89, %90, %91"
#define WGMMA_NAMES192 WGMMA_NAMES184 ", %92, %93, %94, %95"
#define WGMMA_NAMES200 WGMMA_NAMES192 ", %96, %97, %98, %99"
#define WGMMA_NAMES208 WGMMA_NAMES200 ", %100, %101, %102, %103"
#define WGMMA_NAMES216 WGMMA_NAMES208 ", %104, %105, %106, %107"
#define WGMMA_NAMES224 WGMMA_NAMES216 ", %108, %109, %110, %111"
#define WGMMA_NAMES232 WGMMA_NAMES224 ", %112, %113, %114, %115"
#define WGMMA_NAMES240 WGMMA_NAMES232 ", %116, %117, %118, %119"
#define WGMMA_NAMES248 WGMMA_NAMES240 ", %120, %121, %122, %123"
#define WGMMA_NAMES256 WGMMA_NAMES248 ", %124, %125, %126, %127"

#define WGMMA_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_REGS8 WGMMA_FOUR(0)
#define WGMMA_REGS16 WGMMA_REGS8, WGMMA_FOUR(4)
#define WGMMA_REGS24 WGMMA_REGS16, WGMMA_FOUR(8)
#define WGMMA_REGS32 WGMMA_REGS24, WGMMA_FOUR(12)
#define WGMMA_REGS40 WGMMA_REGS32, WGMMA_FOUR(16)
#define WGMMA_REGS48 WGMMA_REGS40, WGMMA_FOUR(20)
#define WGMMA_REGS56 WGMMA_REGS48, WGMMA_FOUR(24)
#define WGMMA_REGS64 WGMMA_REGS56, WGMMA_FOUR(28)
#define WGMMA_REGS72 WGMMA_REGS64, WGMMA_FOUR(32)
#define WGMMA_REGS80 WGMMA_REGS72, WGMMA_FOUR(36)
#define WGMMA_REGS88 WGMMA_REGS80, WGMMA_FOUR(40)
#define WGMMA_REGS96 WGMMA_REGS88, WGMMA_FOUR(44)
#define WGMMA_REGS104 WGMMA_REGS96, WGMMA_FOUR(48)
#define WGMMA_REGS112 WGMMA_REGS104, WGMMA_FOUR(52)
#define WGMMA_REGS120 WGMMA_REGS112, WGMMA_FOUR(56)
#define WGMMA_REGS128 WGMMA_REGS120, WGMMA_FOUR(60)
#define WGMMA_REGS136 WGMMA_REGS128, WGMMA_FOUR(64)
#define WGMMA_REGS144 WGMMA_REGS136, WGMMA_FOUR(68)
#define WGMMA_REGS152 WGMMA_REGS144, WGMMA_FOUR(72)
#define WGMMA_REGS160 WGMMA_REGS152, WGMMA_FOUR(76)
#define WGMMA_REGS168 WGMMA_REGS160, WGMMA_FOUR(80)
#define WGMMA_REGS176 WGMMA_REGS168, WGMMA_FOUR(84)
#define WGMMA_REGS184 WGMMA_REGS176, WGMMA_FOUR(88)
#define WGMMA_REGS192 WGMMA_REGS184, WGMMA_FOUR(92)
#define WGMMA_REGS200 WGMMA_REGS192, WGMMA_FOUR(96)
#define WGMMA_REGS208 WGMMA_REGS200, WGMMA_FOUR(100)
#define WGMMA_REGS216 WGMMA_REGS208, WGMMA_FOUR(104)
#define WGMMA_REGS224 WGMMA_REGS216, WGMMA_FOUR(108)
#define WGMMA_REGS232 WGMMA_REGS224, WGMMA_FOUR(112)
#define WGMMA_REGS240 WGMMA_REGS232, WGMMA_FOUR(116)
#define WGMMA_REGS248 WGMMA_REGS240, WGMMA_FOUR(120)
#define WGMMA_REGS256 WGMMA_REGS248, WGMMA_FOUR(124)

// i0, i1, ...: numbers of the operands that follow D's N / 2.
#define WGMMA_FORMS(N, T, TYPE, i0, i1, i2, i3, i4, i5, i6)                                      \
  template <>                                                                                    \
  struct Wgmma<N, T> {                                                                           \
    static_assert(i0 == N / 2 && i6 == N / 2 + 6, "operands are numbered from 0");               \
    template <bool TRANS_A, bool TRANS_B>                                                        \
    static __device__ __forceinline__ void shared_a(float (&d)[N / 2], uint64_t desc_a,          \
                                                    uint64_t desc_b, int scale_d) {              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #i2                                      \
                   ", 0;\n"                                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE               \
                   " {" WGMMA_NAMES##N "}, %" #i0 ", %" #i1 ", p, 1, 1, %" #i3 ", %" #i4 ";\n}"  \
                   : WGMMA_REGS##N                                                               \
                   : "l"(desc_a), "l"(desc_b), "r"(scale_d), "n"(int(TRANS_A)),                  \
                     "n"(int(TRANS_B)));                                                         \
    }                                                                                            \
    template <bool TRANS_B>                                                                      \
    static __device__ __forceinline__ void register_a(float (&d)[N / 2], const uint32_t (&a)[4], \
                                                      uint64_t desc_b, int scale_d) {            \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #i5                                      \
                   ", 0;\n"                                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE               \
                   " {" WGMMA_NAMES##N "}, {%" #i0 ", %" #i1 ", %" #i2 ", %" #i3 "}, %" #i4      \
                                       ", p, 1, 1, %" #i6 ";\n}"                                 \
                   : WGMMA_REGS##N                                                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(desc_b), "r"(scale_d),      \
                     "n"(int(TRANS_B)));                                                         \
    }                                                                                            \
  };
#define WGMMA_SHAPE(N, ...)                  \
  WGMMA_FORMS(N, __half, "f16", __VA_ARGS__) \
  WGMMA_FORMS(N, __nv_bfloat16, "bf16", __VA_ARGS__)

WGMMA_SHAPE(8, 4, 5, 6, 7, 8, 9, 10)
WGMMA_SHAPE(16, 8, 9, 10, 11, 12, 13, 14)
WGMMA_SHAPE(24, 12, 13, 14, 15, 16, 17, 18)
WGMMA_SHAPE(32, 16, 17, 18, 19, 20, 21, 22)
WGMMA_SHAPE(40, 20, 21, 22, 23, 24, 25, 26)
WGMMA_SHAPE(48, 24, 25, 26, 27, 28, 29, 30)
WGMMA_SHAPE(56, 28, 29, 30, 31, 32, 33, 34)
WGMMA_SHAPE(64, 32, 33, 34, 35, 36, 37, 38)
WGMMA_SHAPE(72, 36, 37, 38, 39, 40, 41, 42)
WGMMA_SHAPE(80, 40, 41, 42, 43, 44, 45, 46)
WGMMA_SHAPE(88, 44, 45, 46, 47, 48, 49, 50)
WGMMA_SHAPE(96, 48, 49, 50, 51, 52, 53, 54)
WGMMA_SHAPE(104, 52, 53, 54, 55, 56, 57, 58)
WGMMA_SHAPE(112, 56, 57, 58, 59, 60, 61, 62)
WGMMA_SHAPE(120, 60, 61, 62, 63, 64, 65, 66)
WGMMA_SHAPE(128, 64, 65, 66, 67, 68, 69, 70)
WGMMA_SHAPE(136, 68, 69, 70, 71, 72, 73, 74)
WGMMA_SHAPE(144, 72, 73, 74, 75, 76, 77, 78)
WGMMA_SHAPE(152, 76, 77, 78, 79, 80, 81, 82)
WGMMA_SHAPE(160, 80, 81, 82, 83, 84, 85, 86)
WGMMA_SHAPE(168, 84, 85, 86, 87, 88, 89, 90)
WGMMA_SHAPE(176, 88, 89, 90, 91, 92, 93, 94)
WGMMA_SHAPE(184, 92, 93, 94, 95, 96, 97, 98)
WGMMA_SHAPE(192, 96, 97, 98, 99, 100, 101, 102)
WGMMA_SHAPE(200, 100, 101, 102, 103, 104, 105, 106)
WGMMA_SHAPE(208, 104, 105, 106, 107, 108, 109, 110)
WGMMA_SHAPE(216, 108, 109, 110, 111, 112, 113, 114)
WGMMA_SHAPE(224, 112, 113, 114, 115, 116, 117, 118)
WGMMA_SHAPE(232, 116, 117, 118, 119, 120, 121, 122)
WGMMA_SHAPE(240, 120, 121, 122, 123, 124, 125, 126)
WGMMA_SHAPE(248, 124, 125, 126, 127, 128, 129, 130)
WGMMA_SHAPE(256, 128, 129, 130, 131, 132, 133, 134)

#undef WGMMA_SHAPE
#undef WGMMA_FORMS

}  // namespace ptx

// T: __half or __nv_bfloat16. TRANS_A, TRANS_B: the operand is MN-major in shared memory, that is,
// neighbouring elements have neighbouring rows of A (columns of B), else neighbouring k.
// scale_d == 0: D = A * B, whatever is in d.
template <int N, class T, bool TRANS_A = false, bool TRANS_B = false>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], uint64_t desc_a, uint64_t desc_b,
                                             int scale_d) {
  ptx::Wgmma<N, T>::template shared_a<TRANS_A, TRANS_B>(d, desc_a, desc_b, scale_d);
}

// The same with A in registers.
template <int N, class T, bool TRANS_B = false>
__device__ __forceinline__ void wgmma_m64k16_rs(float (&d)[N / 2], const uint32_t (&a)[4],
                                                uint64_t desc_b, int scale_d) {
  ptx::Wgmma<N, T>::template register_a<TRANS_B>(d, a, desc_b, scale_d);
}
