// threadIdx, blockIdx, blockDim, gridDim, dim3, __syncthreads.
#pragma once
#include <cstdio>

#include "abi.h"
#include "vector_types.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

namespace gemmlab_sim {

// Reads as an unsigned number; asks the runtime for it.
template <SimIndex (*Get)(), unsigned SimIndex::* Axis>
struct Coordinate {
  operator unsigned() const { return Get().*Axis; }
};

template <SimIndex (*Get)()>
struct Index {
  Coordinate<Get, &SimIndex::x> x;
  Coordinate<Get, &SimIndex::y> y;
  Coordinate<Get, &SimIndex::z> z;
  operator uint3() const { return {x, y, z}; }
  operator dim3() const { return {x, y, z}; }
};

}  // namespace gemmlab_sim

// Objects, not macros: members of other structures are called gridDim and blockDim, too.
constexpr gemmlab_sim::Index<sim_thread_index> threadIdx{};
constexpr gemmlab_sim::Index<sim_block_index> blockIdx{};
constexpr gemmlab_sim::Index<sim_block_size> blockDim{};
constexpr gemmlab_sim::Index<sim_grid_size> gridDim{};
constexpr int warpSize = 32;

namespace gemmlab_sim {
template <class T>
__forceinline__ const T& printed(const T& value) {
  return value;
}
template <SimIndex (*Get)(), unsigned SimIndex::* Axis>
__forceinline__ unsigned printed(const Coordinate<Get, Axis>& value) {
  return value;
}
}  // namespace gemmlab_sim

// Found before the C library's, which would get threadIdx.x as the object that it is here.
template <class First, class... Rest>
__forceinline__ int printf(const char* format, const First& first, const Rest&... rest) {
  int (*const print)(const char*, ...) = printf;
  return print(format, gemmlab_sim::printed(first), gemmlab_sim::printed(rest)...);
}

__forceinline__ void __trap() { sim_assertion_failed("__trap()"); }

__forceinline__ void __syncthreads(int line = __builtin_LINE()) { sim_syncthreads(line); }

// Blocks run on several threads of this machine, so it is a fence of this machine.
__forceinline__ void __threadfence() { sim_threadfence(); }
