// Of inline PTX: what stands for a register, and the special ones.
#pragma once
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "abi_cluster.h"
#include "abi_matrix.h"

namespace gemmlab_ptx {

// "_": a result that nobody wants.
struct Sink {};

// A register's value as type T. Registers have a size, and no type: the bits are taken as they are
// if there are as many, else the number is.
template <class T, class V>
__forceinline__ T get(const V& value) {
  if constexpr (std::is_same_v<T, V>) {
    return value;
  } else if constexpr (std::is_pointer_v<V>) {
    return static_cast<T>(reinterpret_cast<uintptr_t>(value));
  } else if constexpr (sizeof(T) == sizeof(V)) {
    T bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else {
    return static_cast<T>(value);
  }
}

template <class T, class D>
__forceinline__ void put(D& target, T value) {
  using To = std::remove_reference_t<D>;
  if constexpr (std::is_same_v<To, Sink>) {
  } else if constexpr (std::is_same_v<T, To>) {
    target = value;
  } else if constexpr (std::is_pointer_v<To>) {
    target = reinterpret_cast<To>(uintptr_t(value));
  } else if constexpr (sizeof(T) == sizeof(To)) {
    std::memcpy(&target, &value, sizeof target);
  } else {
    target = static_cast<To>(value);
  }
}

__forceinline__ uint32_t thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__forceinline__ uint32_t laneid() { return thread_number() % 32; }
__forceinline__ uint32_t warpid() { return thread_number() / 32; }
__forceinline__ uint32_t nwarpid() { return (blockDim.x * blockDim.y * blockDim.z + 31) / 32; }
__forceinline__ uint32_t lanemask_eq() { return 1u << laneid(); }
__forceinline__ uint32_t lanemask_lt() { return lanemask_eq() - 1; }
__forceinline__ uint32_t lanemask_le() { return lanemask_lt() | lanemask_eq(); }
__forceinline__ uint32_t lanemask_gt() { return ~lanemask_le(); }
__forceinline__ uint32_t lanemask_ge() { return ~lanemask_lt(); }
// Of clusters along x, as nearly all are.
__forceinline__ uint32_t clusterid_x() { return blockIdx.x / sim_cluster_size(); }
__forceinline__ uint32_t nclusterid_x() { return gridDim.x / sim_cluster_size(); }
// Blocks are not on SMs here: this gives each a place, in turns.
__forceinline__ uint32_t smid() {
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  return block % 132;
}

}  // namespace gemmlab_ptx
