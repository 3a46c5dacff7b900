// What one warp's request costs: wavefronts in shared memory, sectors in global memory.
// The same rules in Python, with their source: gemmlab/layouts/shared/banks.py. A test holds them
// equal.
#pragma once
#include "types.h"

namespace sim {

constexpr u32 BANKS = 32;
constexpr u32 WORD = 4;  // bytes
constexpr u32 SECTOR = 32;

struct Cost {
  u32 actual, minimum;
};

// By which rules a shared-memory request is served. An ldmatrix or stmatrix is served as a store of
// 16 bytes by the lanes that point to rows.
enum class Serve : u32 { LOAD, STORE };

// Byte addresses by lane; lanes outside of `mask` are ignored. `width` is 1, 2, 4, 8 or 16 bytes.
Cost shared_wavefronts(const u32 (&address)[WARP], u32 mask, u32 width, Serve serve);

// The minimum is what the same distinct bytes would take if they were neighbours.
Cost global_sectors(const u32 (&address)[WARP], u32 mask, u32 width);

}  // namespace sim
