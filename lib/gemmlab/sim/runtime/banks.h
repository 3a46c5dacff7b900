// What one warp's request costs: wavefronts in shared memory, sectors in global memory.
// The same rules in Python, with their source: gemmlab/layouts/banks.py. A test holds them equal.
#pragma once
#include "types.h"

namespace sim {

struct Cost {
  u32 actual, minimum;
};

// Byte addresses by lane; lanes outside of `mask` are ignored. `width` is 1, 2, 4, 8 or 16 bytes.
Cost shared_wavefronts(const u32 (&address)[WARP], u32 mask, u32 width, bool load);

// The minimum is what the same distinct bytes would take if they were neighbours.
Cost global_sectors(const u32 (&address)[WARP], u32 mask, u32 width);

}  // namespace sim
