// What one warp's cp.async costs. The same rules in Python, with their source:
// gemmlab/layouts/shared/copies.py. A test holds them equal.
#pragma once
#include "banks.h"

namespace sim {

// Byte addresses by lane, in shared and in global memory. Lanes of `mask` take part, those of
// `reads` among them have a source.
struct Copies {
  u32 mask, reads;
  const u32 (&to)[WARP];
  const u32 (&from)[WARP];
  u32 width;       // 4, 8 or 16 bytes
  bool past_l1;    // cp.async.cg
  bool zero_fill;  // the form with a source size
};

Cost copy_wavefronts(const Copies& copies);

// Of `reads`, which is not empty.
Cost copy_sectors(const Copies& copies);

}  // namespace sim
