// Names used everywhere in the runtime.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 WARP = 32;
constexpr u32 MAX_THREADS = 1024;  // per block
constexpr u32 MAX_WORKERS = 16;    // OS threads

// What one traced access is.
enum class Op : u32 {
  LOAD_SHARED,
  STORE_SHARED,
  LOAD_GLOBAL,
  STORE_GLOBAL,
  ATOMIC_SHARED,
  ATOMIC_GLOBAL,
};

inline bool is_shared(Op op) {
  return op == Op::LOAD_SHARED || op == Op::STORE_SHARED || op == Op::ATOMIC_SHARED;
}

}  // namespace sim
