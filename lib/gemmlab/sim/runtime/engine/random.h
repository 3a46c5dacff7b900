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

// 0 to count - 1 in the order that a seed gives.
inline std::vector<u32> shuffled(u32 count, u64 seed) {
  std::vector<u32> numbers(count);
  for (u32 i = 0; i < count; ++i) numbers[i] = i;
  for (u32 i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[next_random(seed) % i]);
  return numbers;
}

}  // namespace sim
