// Stand-in for CUDA's header of this name: a group's threads copy to shared memory together, by
// cp.async where place and size allow it, and wait for it together.
#pragma once
#include <cooperative_groups.h>
#include <cuda/barrier>

#include "gemmlab_sim/abi_copy.h"

namespace cooperative_groups {

namespace details {
template <class Group>
__forceinline__ void copy(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t together = size_t(to) | size_t(from) | bytes;
  const unsigned width = together % 16 == 0  ? 16
                         : together % 8 == 0 ? 8
                         : together % 4 == 0 ? 4
                                             : 1;
  char* const target = static_cast<char*>(to);
  const char* const source = static_cast<const char*>(from);
  const size_t step = size_t(width) * group.size();
  for (size_t at = size_t(width) * group.thread_rank(); at < bytes; at += step) {
    if (width == 1)
      target[at] = source[at];
    else
      sim_cp_async(sim_shared_address(target + at), source + at, width, width,
                   width == 16 ? SIM_COPY_CG : SIM_COPY_CA);
  }
  sim_cp_async_commit();
}
}  // namespace details

template <class Group, class T>
__forceinline__ void memcpy_async(const Group& group, T* to, const void* from, size_t bytes) {
  details::copy(group, to, from, bytes);
}
template <class Group, class T, size_t Alignment>
__forceinline__ void memcpy_async(const Group& group, T* to, const void* from,
                                  const cuda::aligned_size_t<Alignment>& bytes) {
  details::copy(group, to, from, size_t(bytes));
}
// Numbers of elements; the smaller one counts.
template <class Group, class T>
__forceinline__ void memcpy_async(const Group& group, T* to, size_t room, const T* from,
                                  size_t count) {
  details::copy(group, to, from, (count < room ? count : room) * sizeof(T));
}

// All but the newest so many copies of the group.
template <unsigned Newest, class Group>
__forceinline__ void wait_prior(const Group& group, int line = __builtin_LINE()) {
  sim_cp_async_wait(Newest);
  group.sync(line);
}
template <class Group>
__forceinline__ void wait(const Group& group, int line = __builtin_LINE()) {
  sim_cp_async_wait(0);
  group.sync(line);
}

}  // namespace cooperative_groups
