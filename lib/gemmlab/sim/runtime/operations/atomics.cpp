// Atomic operations on memory. Blocks run on several OS threads, so this takes the machine's own
// compare-and-exchange, in a loop around an ordinary computation.
#include <algorithm>
#include <type_traits>

#include "../../include/gemmlab_sim/abi_matrix.h"
#include "../../include/gemmlab_sim/half_bits.h"
#include "memory/access.h"
#include "polling.h"

namespace sim {

namespace {

using gemmlab_sim::bits_as;

template <class T>
T combine(SimAtomic operation, T before, T value, T compare) {
  switch (operation) {
    case SIM_ATOMIC_ADD:
      if constexpr (std::is_integral_v<T>)
        return T(u64(before) + u64(value));  // wraps around
      else
        return before + value;
    case SIM_ATOMIC_MIN:
      return std::min(before, value);
    case SIM_ATOMIC_MAX:
      return std::max(before, value);
    case SIM_ATOMIC_EXCHANGE:
    case SIM_ATOMIC_REPLACE:
      return value;
    case SIM_ATOMIC_COMPARE:
      return before == compare ? value : before;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == SIM_ATOMIC_AND) return before & value;
    if (operation == SIM_ATOMIC_OR) return before | value;
    if (operation == SIM_ATOMIC_XOR) return before ^ value;
  }
  return before;
}

// Bits: an unsigned type of T's width.
template <class T, class Bits>
Bits combine_bits(SimAtomic operation, Bits before, Bits value, Bits compare) {
  return bits_as<Bits>(
      combine(operation, bits_as<T>(before), bits_as<T>(value), bits_as<T>(compare)));
}

template <class Format, class Bits>
Bits add_narrow(SimAtomic, Bits before, Bits value, Bits) {
  Bits sum = 0;
  for (u32 shift = 0; shift < 8 * sizeof(Bits); shift += 16) {
    const double exact =
        double(Format::widen(u16(before >> shift))) + Format::widen(u16(value >> shift));
    sum |= Bits(Format::narrow(exact)) << shift;
  }
  return sum;
}

u64 add_float_pair(SimAtomic, u64 before, u64 value, u64) {
  const auto half = [&](u32 shift) {
    const float sum = bits_as<float>(u32(before >> shift)) + bits_as<float>(u32(value >> shift));
    return u64(bits_as<u32>(sum)) << shift;
  };
  return half(0) | half(32);
}

// Repeats until nobody has come in between.
template <class Bits>
u64 update(Bits (*next)(SimAtomic, Bits, Bits, Bits), SimAtomic operation, void* address, u64 value,
           u64 compare, const void* return_address) {
  constexpr u32 LOG2_WIDTH = sizeof(Bits) == 8 ? 3 : sizeof(Bits) == 4 ? 2 : 1;
  Fiber& fiber = *running_fiber();
  const bool is_common = is_polled_memory(fiber, address, sizeof(Bits));
  if (is_common) fiber.worker->cluster().offer_turn();
  if (operation == SIM_ATOMIC_REPLACE)
    on_access<LOG2_WIDTH, Access::REPLACE>(address, return_address);
  else
    on_access<LOG2_WIDTH, Access::ATOMIC>(address, return_address);
  auto* word = static_cast<Bits*>(address);
  Bits before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
  do after = next(operation, before, Bits(value), Bits(compare));
  while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
  if (before != after) {
    fiber.polling.forget();
    fiber.worker->cluster().note_change();
  } else if (is_common)
    note_strong_read(fiber, {address, sizeof(Bits), before}, fiber.pc_of(return_address));
  return before;
}

}  // namespace

}  // namespace sim

extern "C" uint64_t sim_atomic(SimAtomic operation, SimAtomicType type, void* address,
                               uint64_t value, uint64_t compare) {
  using namespace sim;
  using gemmlab_sim::BfloatFormat, gemmlab_sim::HalfFormat;
  const void* caller = __builtin_return_address(0);
  const auto with = [&](auto next) {
    return update(next, operation, address, value, compare, caller);
  };
  switch (type) {
    case SIM_ATOMIC_I32:
      return with(combine_bits<int32_t, u32>);
    case SIM_ATOMIC_I64:
      return with(combine_bits<i64, u64>);
    case SIM_ATOMIC_U16:
      return with(combine_bits<u16, u16>);
    case SIM_ATOMIC_U32:
      return with(combine_bits<u32, u32>);
    case SIM_ATOMIC_U64:
      return with(combine_bits<u64, u64>);
    case SIM_ATOMIC_F32:
      return with(combine_bits<float, u32>);
    case SIM_ATOMIC_F32X2:
      return with(add_float_pair);
    case SIM_ATOMIC_F64:
      return with(combine_bits<double, u64>);
    case SIM_ATOMIC_F16:
      return with(add_narrow<HalfFormat, u16>);
    case SIM_ATOMIC_F16X2:
      return with(add_narrow<HalfFormat, u32>);
    case SIM_ATOMIC_BF16:
      return with(add_narrow<BfloatFormat, u16>);
    case SIM_ATOMIC_BF16X2:
      return with(add_narrow<BfloatFormat, u32>);
  }
  return 0;
}
