// Numbers that look random and are the same on every machine.
#pragma once
#include <utility>
#include <vector>

#include "memory/types.h"

namespace sim {

// splitmix64.
inline u64 next_random(u64& state) {
  u64 z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// count - 1 to 0.
inline std::vector<u32> reversed(u32 count) {
  std::vector<u32> numbers(count);
  for (u32 i = 0; i < count; ++i) numbers[i] = count - 1 - i;
  return numbers;
}

// 0 to count - 1 in the order that a seed gives.
inline std::vector<u32> shuffled(u32 count, u64 seed) {
  std::vector<u32> numbers(count);
  for (u32 i = 0; i < count; ++i) numbers[i] = i;
  for (u32 i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[next_random(seed) % i]);
  return numbers;
}

// Numbers of blocks, or of clusters, in the order in which they are dispatched (not order 0, which
// is by number): 1 is from the last one, any other is a seed.
inline std::vector<u32> dispatched(u32 count, u32 order) {
  return order == 1 ? reversed(count) : shuffled(count, order);
}

}  // namespace sim
