// Two consumers that take turns at the tensor cores, each with a tile of its own.
#pragma once
#include <ptx/mbarrier.cuh>

// Whose turn it is, of two consumers: an mbarrier each, behind those of the ring.
template <class S>
struct Turns {
  uint32_t own_addr, other_addr, parity;

  __device__ Turns(uint32_t addr, int wg_id)
      : own_addr(addr + wg_id * 8), other_addr(addr + (wg_id ^ 1) * 8), parity(wg_id ^ 1) {}
  __device__ void wait() {
    if constexpr (S::TURNS) mbarrier_wait(own_addr, parity), parity ^= 1;
  }
  __device__ void pass() const {
    if (S::TURNS && threadIdx.x % 128 == 0) mbarrier_arrive(other_addr);
  }
};
