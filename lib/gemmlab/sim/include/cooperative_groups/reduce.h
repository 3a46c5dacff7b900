// Stand-in for CUDA's header of this name: reduce() over lanes of a warp.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define GEMMLAB_OPERATION(name, value)                           \
  template <class T>                                             \
  struct name {                                                  \
    T operator()(const T& a, const T& b) const { return value; } \
  };
GEMMLAB_OPERATION(plus, a + b)
GEMMLAB_OPERATION(less, b < a ? b : a)
GEMMLAB_OPERATION(greater, a < b ? b : a)
GEMMLAB_OPERATION(bit_and, a& b)
GEMMLAB_OPERATION(bit_or, a | b)
GEMMLAB_OPERATION(bit_xor, a ^ b)
#undef GEMMLAB_OPERATION

// In every lane. Sums are added up by a tree, as shuffles would.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation, int line = __builtin_LINE()) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_down(value, step, line);
    if (group.thread_rank() + step < group.size()) value = operation(value, other);
  }
  return group.shfl(value, 0, line);
}

// Of several warps: each leaves its sum for the others.
template <unsigned Size, class T, class Operation>
T reduce(const warps_tile<Size>& tile, T value, Operation operation, int line = __builtin_LINE()) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a value of up to 8 bytes");
  const thread_block_tile<32> warp;
  T* const room = reinterpret_cast<T*>(tile.room());
  value = reduce(warp, value, operation, line);
  if (warp.thread_rank() == 0) room[tile.thread_rank() / 32] = value;
  tile.sync(line);
  value = room[0];
  for (unsigned i = 1; i < Size / 32; ++i) value = operation(value, room[i]);
  tile.sync(line);
  return value;
}

}  // namespace cooperative_groups
