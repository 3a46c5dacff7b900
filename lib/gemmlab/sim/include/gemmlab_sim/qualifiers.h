// CUDA's words, as far as they mean something to a C++ compiler.
#pragma once

#define __CUDACC_SIMULATED__ 1

// A kernel stays a function of its own, so that debug information names its lines.
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __restrict__ __restrict
#define __grid_constant__
// Makes room for as many instructions before the kernel as it may have threads: that is how the
// number gets into the library (sim/elf.py). Templates need an attribute; this is one of few
// whose number survives compilation.
#define __launch_bounds__(...)                                                \
  __attribute__((patchable_function_entry(gemmlab_sim::first_of(__VA_ARGS__), \
                                          gemmlab_sim::first_of(__VA_ARGS__))))
// Of a program it is rewritten (program/edits.py): the C++ library's headers have the word, too.
#ifdef GEMMLAB_PROGRAM
#define GEMMLAB_CUDA_ARCH 900  // __CUDA_ARCH__ of the lines that compare it (program/edits.py)
#else
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// __cluster_dims__(x, y, z) of a kernel, put into its body: notes in a section of the library's
// that the kernel with this address has clusters of this size (sim/elf.py).
#define GEMMLAB_CLUSTER_DIMS(...)                                                              \
  asm volatile(                                                                                \
      "1: .pushsection gemmlab_clusters,\"a\",%%progbits\n"                                    \
      ".long 1b - ., %c0, %c1, %c2\n"                                                          \
      ".popsection" ::"i"(gemmlab_sim::constant<gemmlab_sim::NumberAt<0>(__VA_ARGS__).value>), \
      "i"(gemmlab_sim::constant<gemmlab_sim::NumberAt<1>(__VA_ARGS__).value>),                 \
      "i"(gemmlab_sim::constant<gemmlab_sim::NumberAt<2>(__VA_ARGS__).value>))

// One OS thread runs one block at a time, so what is private to the OS thread is shared by the
// block. A thread_local inside a function is static, as a __shared__ array is.
// Dynamic shared memory is `extern __shared__ float any_name[];`.
// Constant initialisation: otherwise an array of float4 gets a flag, in shared memory, that says
// whether its (empty) constructors have run.
// Used: else the compiler takes an array that no code writes for zeros, and leaves out the reads
// that would be found.
#define __shared__ __attribute__((used)) __constinit thread_local

namespace gemmlab_sim {
template <int Number>
constexpr int constant = Number;
template <class... Rest>
constexpr int first_of(int first, Rest...) {
  return first;
}
// The number at an index, 1 if there are not so many.
template <int Index>
struct NumberAt {
  int value;
  template <class... Numbers>
  constexpr NumberAt(Numbers... numbers) : value(1) {
    const int all[] = {static_cast<int>(numbers)...};
    if (Index < static_cast<int>(sizeof...(numbers))) value = all[Index];
  }
};
}  // namespace gemmlab_sim
