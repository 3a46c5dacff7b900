// CUDA's words, as far as they mean something to a C++ compiler.
#pragma once

#define __CUDACC_SIMULATED__ 1

// A kernel stays a function of its own, so that debug information names its lines.
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __restrict__ __restrict
#define __grid_constant__
// Makes room for as many instructions before the kernel as it may have threads: that is how the
// number gets into the library (sim/elf.py). Templates need an attribute; this is one of few
// whose number survives compilation.
#define __launch_bounds__(...)                                                \
  __attribute__((patchable_function_entry(gemmlab_sim::first_of(__VA_ARGS__), \
                                          gemmlab_sim::first_of(__VA_ARGS__))))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// One OS thread runs one block at a time, so what is private to the OS thread is shared by the
// block. A thread_local inside a function is static, as a __shared__ array is.
// Dynamic shared memory is `extern __shared__ float any_name[];`.
// Constant initialisation: otherwise an array of float4 gets a flag, in shared memory, that says
// whether its (empty) constructors have run.
// Used: else the compiler takes an array that no code writes for zeros, and leaves out the reads
// that would be found.
#define __shared__ __attribute__((used)) __constinit thread_local

namespace gemmlab_sim {
template <class... Rest>
constexpr int first_of(int first, Rest...) {
  return first;
}
}  // namespace gemmlab_sim
