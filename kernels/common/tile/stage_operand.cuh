// How an operand of a stage stands in shared memory, for the descriptors of wgmma.
#pragma once
#include "wgmma_descriptor.cuh"

// An operand of a stage that the copy engine fills: lines of 128 bytes, which the swizzle spans.
// K-major they are rows of A or columns of B, 64 k deep. MN-major they are 64 of k in boxes of 64
// rows or columns.
template <bool MN_MAJOR>
struct StageOperand {
  static constexpr bool MN = MN_MAJOR;
  static constexpr int LINE_BYTES = 128, BOX_BYTES = 64 * LINE_BYTES;
  static constexpr int LEADING_BYTES = MN ? BOX_BYTES : 16;  // K-major it is not used
  static constexpr int STRIDE_BYTES = 8 * LINE_BYTES;
  // The next 16 k, in 16 bytes: two patterns further, or along the line.
  static constexpr int NEXT_K = MN ? 2 * STRIDE_BYTES / 16 : 16 * 2 / 16;
};
