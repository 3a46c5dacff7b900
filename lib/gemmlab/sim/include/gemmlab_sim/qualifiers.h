// CUDA's words, as far as they mean something to a C++ compiler.
#pragma once

#define __CUDACC_SIMULATED__ 1

// A kernel stays a function of its own, so that debug information names its lines.
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__ const
#define __restrict__ __restrict
#define __grid_constant__
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// One OS thread runs one block at a time, so what is private to the OS thread is shared by the
// block. A thread_local inside a function is static, as a __shared__ array is.
// Dynamic shared memory is `extern __shared__ unsigned char smem[];`, by that name.
#define __shared__ thread_local
