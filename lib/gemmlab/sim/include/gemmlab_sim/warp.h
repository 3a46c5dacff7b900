// Barriers, shuffles and votes of a warp.
#pragma once
#include <cstring>

#include "abi.h"

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  sim_syncwarp(mask, line);
}

namespace gemmlab_sim {

template <class T>
__forceinline__ T shuffle(unsigned mask, T value, SimShuffle mode, unsigned operand, int width,
                          int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 32 or 64 bits");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = sim_shuffle(mask, bits, mode, operand, static_cast<unsigned>(width), line);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace gemmlab_sim

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                              int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle(mask, value, SIM_SHUFFLE_INDEX, lane, width, line);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                 int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle(mask, value, SIM_SHUFFLE_UP, delta, width, line);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                   int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle(mask, value, SIM_SHUFFLE_DOWN, delta, width, line);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                                  int line = __builtin_LINE()) {
  return gemmlab_sim::shuffle(mask, value, SIM_SHUFFLE_XOR, lane_mask, width, line);
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
