// Barriers, shuffles, votes and reductions of a warp.
#pragma once
#include <cstring>
#include <type_traits>

#include "abi.h"
#include "abi_matrix.h"
#include "thread.h"

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  sim_syncwarp(mask, line);
}

namespace gemmlab_sim {

// A value as it is handed on: a coordinate, such as threadIdx.x, as the number that it is.
template <class T>
struct Handed {
  using type = T;
};
template <SimIndex (*Get)(), unsigned SimIndex::* Axis>
struct Handed<Coordinate<Get, Axis>> {
  using type = unsigned;
};
template <class T>
using handed_t = typename Handed<T>::type;

template <class T>
__forceinline__ T shuffle(unsigned mask, T value, SimShuffle mode, unsigned operand, int width,
                          int line) {
  static_assert(sizeof(T) <= 32 && std::is_trivially_destructible_v<T>,
                "a shuffle moves 32 bytes at most, of a type without a destructor");
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = sim_shuffle(mask, bits, mode, operand, static_cast<unsigned>(width), line);
    std::memcpy(&value, &bits, sizeof(T));
  } else {  // by several shuffles
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    std::memcpy(words, &value, sizeof(T));
    for (uint64_t& word : words)
      word = sim_shuffle(mask, word, mode, operand, static_cast<unsigned>(width), line);
    std::memcpy(static_cast<void*>(&value), words, sizeof(T));
  }
  return value;
}

}  // namespace gemmlab_sim

template <class T>
__forceinline__ gemmlab_sim::handed_t<T> __shfl_sync(unsigned mask, T value, int lane,
                                                     int width = 32, int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle<gemmlab_sim::handed_t<T>>(mask, value, SIM_SHUFFLE_INDEX, lane, width,
                                                        line);
}
template <class T>
__forceinline__ gemmlab_sim::handed_t<T> __shfl_up_sync(unsigned mask, T value, unsigned delta,
                                                        int width = 32,
                                                        int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle<gemmlab_sim::handed_t<T>>(mask, value, SIM_SHUFFLE_UP, delta, width,
                                                        line);
}
template <class T>
__forceinline__ gemmlab_sim::handed_t<T> __shfl_down_sync(unsigned mask, T value, unsigned delta,
                                                          int width = 32,
                                                          int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle<gemmlab_sim::handed_t<T>>(mask, value, SIM_SHUFFLE_DOWN, delta, width,
                                                        line);
}
template <class T>
__forceinline__ gemmlab_sim::handed_t<T> __shfl_xor_sync(unsigned mask, T value, int lane_mask,
                                                         int width = 32,
                                                         int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle<gemmlab_sim::handed_t<T>>(mask, value, SIM_SHUFFLE_XOR, lane_mask,
                                                        width, line);
}

__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return sim_ballot(mask, predicate, line);
}
__forceinline__ int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return sim_ballot(mask, predicate, line) != 0;
}
__forceinline__ int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return sim_ballot(mask, !predicate, line) == 0;
}

// Which lanes have not returned. The device gives those that happen to execute the call together,
// which CUDA leaves undefined after a branch: a mask for a branch must be known otherwise.
__forceinline__ unsigned __activemask() { return sim_active_mask(); }

#define GEMMLAB_REDUCE(name, T, operation)                                                  \
  __forceinline__ T name(unsigned mask, T value, int line = __builtin_LINE()) {             \
    return static_cast<T>(sim_reduce(mask, static_cast<unsigned>(value), operation, line)); \
  }
GEMMLAB_REDUCE(__reduce_add_sync, unsigned, SIM_REDUCE_ADD)
GEMMLAB_REDUCE(__reduce_add_sync, int, SIM_REDUCE_ADD)
GEMMLAB_REDUCE(__reduce_min_sync, unsigned, SIM_REDUCE_MIN)
GEMMLAB_REDUCE(__reduce_min_sync, int, SIM_REDUCE_MIN_SIGNED)
GEMMLAB_REDUCE(__reduce_max_sync, unsigned, SIM_REDUCE_MAX)
GEMMLAB_REDUCE(__reduce_max_sync, int, SIM_REDUCE_MAX_SIGNED)
GEMMLAB_REDUCE(__reduce_and_sync, unsigned, SIM_REDUCE_AND)
GEMMLAB_REDUCE(__reduce_or_sync, unsigned, SIM_REDUCE_OR)
GEMMLAB_REDUCE(__reduce_xor_sync, unsigned, SIM_REDUCE_XOR)
#undef GEMMLAB_REDUCE
