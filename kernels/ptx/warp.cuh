// Operations of a whole warp that CUDA C++ has no function for.
#pragma once
#include <cstdint>

// elect.sync: true in one lane of the warp, and in the same one each time. All 32 lanes must
// execute it together. From sm_90 on.
// PTX ISA, "Parallel Synchronization and Communication Instructions: elect.sync".
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

// setmaxnreg: from here on the warp has N registers a thread, more than before (inc, which waits
// until the block has them to give) or fewer (dec, which gives some back). All four warps of a
// warpgroup must execute it. Only for sm_90a and the like.
// PTX ISA, "Miscellaneous Instructions: setmaxnreg".
template <int N>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
