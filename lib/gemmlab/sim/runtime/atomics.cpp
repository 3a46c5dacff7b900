// atomicAdd. Blocks run on several OS threads, so global memory needs the machine's own atomics.
#include <cstring>

#include "../include/gemmlab_sim/abi.h"
#include "access.h"

namespace sim {

namespace {

template <class T>
T add(T* address, T value, const void* return_address) {
  on_access<sizeof(T) == 8 ? 3 : 2, Access::ATOMIC>(address, return_address);
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

}  // namespace

}  // namespace sim

extern "C" uint32_t sim_atomic_add_u32(uint32_t* address, uint32_t value) {
  return sim::add(address, value, __builtin_return_address(0));
}

extern "C" uint64_t sim_atomic_add_u64(uint64_t* address, uint64_t value) {
  return sim::add(address, value, __builtin_return_address(0));
}

extern "C" float sim_atomic_add_f32(float* address, float value) {
  sim::on_access<2, sim::Access::ATOMIC>(address, __builtin_return_address(0));
  auto* bits = reinterpret_cast<uint32_t*>(address);
  uint32_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED), wanted;
  float before;
  do {
    std::memcpy(&before, &seen, sizeof before);
    const float after = before + value;
    std::memcpy(&wanted, &after, sizeof wanted);
  } while (
      !__atomic_compare_exchange_n(bits, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return before;
}
