// What g++ -fsanitize=thread makes of the host's std::atomic, of its shared pointers, and of the
// flags of static variables. A kernel's atomics are others (atomics.cpp).
#include <cstdint>

#pragma GCC visibility push(default)

// `order` is ignored: the strongest one is always right.
#define GEMMLAB_FETCH(T, bits, name, builtin)                               \
  extern "C" T __tsan_atomic##bits##_##name(volatile T* at, T value, int) { \
    return builtin(at, value, __ATOMIC_SEQ_CST);                            \
  }
#define GEMMLAB_EXCHANGE(T, bits, name, is_weak)                                                \
  extern "C" int __tsan_atomic##bits##_##name(volatile T* at, T* expected, T value, int, int) { \
    return __atomic_compare_exchange_n(at, expected, value, is_weak, __ATOMIC_SEQ_CST,          \
                                       __ATOMIC_SEQ_CST);                                       \
  }
#define GEMMLAB_HOST_ATOMICS(T, bits)                                                             \
  extern "C" T __tsan_atomic##bits##_load(const volatile T* at, int) {                            \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  extern "C" void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                     \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                               \
  extern "C" T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T value,    \
                                                          int, int) {                             \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                              \
  }                                                                                               \
  GEMMLAB_EXCHANGE(T, bits, compare_exchange_strong, false)                                       \
  GEMMLAB_EXCHANGE(T, bits, compare_exchange_weak, true)                                          \
  GEMMLAB_FETCH(T, bits, exchange, __atomic_exchange_n)                                           \
  GEMMLAB_FETCH(T, bits, fetch_add, __atomic_fetch_add)                                           \
  GEMMLAB_FETCH(T, bits, fetch_sub, __atomic_fetch_sub)                                           \
  GEMMLAB_FETCH(T, bits, fetch_and, __atomic_fetch_and)                                           \
  GEMMLAB_FETCH(T, bits, fetch_or, __atomic_fetch_or)                                             \
  GEMMLAB_FETCH(T, bits, fetch_xor, __atomic_fetch_xor)                                           \
  GEMMLAB_FETCH(T, bits, fetch_nand, __atomic_fetch_nand)

GEMMLAB_HOST_ATOMICS(uint8_t, 8)
GEMMLAB_HOST_ATOMICS(uint16_t, 16)
GEMMLAB_HOST_ATOMICS(uint32_t, 32)
GEMMLAB_HOST_ATOMICS(uint64_t, 64)

extern "C" void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
extern "C" void __tsan_atomic_signal_fence(int) {}

#undef GEMMLAB_HOST_ATOMICS
#undef GEMMLAB_EXCHANGE
#undef GEMMLAB_FETCH
#pragma GCC visibility pop
