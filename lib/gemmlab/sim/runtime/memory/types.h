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
constexpr u32 MAX_WORKERS = 16;    // OS threads that run at the same time
constexpr u32 MAX_RESIDENT = 132;  // blocks that take turns

// What one traced access is. sim/counts.py has the names in this order.
enum class Op : u32 {
  LOAD_SHARED,
  STORE_SHARED,
  LOAD_GLOBAL,
  STORE_GLOBAL,
  ATOMIC_SHARED,
  ATOMIC_GLOBAL,
  LOAD_MATRIX,     // ldmatrix: a lane's event is the row that it points to
  STORE_MATRIX,    // stmatrix
  COPY_TO_SHARED,  // the two sides of a cp.async, the source's event before this one
  COPY_FROM_GLOBAL,
  TMA_LOAD,  // a box, counted by the copy engine's rules
  TMA_STORE,
  WGMMA_READ,           // the tensor core's reads of shared operands
  COPY_PAST_L1,         // COPY_TO_SHARED by cp.async.cg
  COPY_PAST_L1_FILLED,  // ... in the form with a source size
  MARK,                 // no access: what a journal keeps beside them (access.h: mark, keep_value)
};

// What a mark says, with a number of 24 bits. sim/journal.py has the names in this order.
enum class Mark : u32 {
  BARRIER,        // __syncthreads
  COMMIT,         // a group of cp.async
  WAIT,           // until so many groups are unfinished
  MBARRIER_WAIT,  // at that address in shared memory
  MBARRIER_ARRIVE,
  TMA_LOAD,       // to that address
  MMA,            // a tensor core's product
  WMMA,           // a fragment loaded or stored by nvcuda::wmma
  OTHER_BARRIER,  // bar.sync with a number, or the cluster's
  BOX,            // a piece of a copied box, to that place in shared memory
  MBARRIER_INIT,  // at that address; its value is the number of arrivals
};

}  // namespace sim
