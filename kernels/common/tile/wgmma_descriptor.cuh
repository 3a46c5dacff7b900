// Descriptors of wgmma's operands in shared memory: where a tile stands, and in which layout.
//
// Tiles are of 16-bit elements, addressed in pieces of 16 bytes (8 elements). A layout repeats a
// pattern of 8 rows of SPAN bytes; a row of SPAN = 16 bytes is one piece, and longer ones are
// swizzled: address bits 4 and up are XORed with bits 7 and up (128 B: three bits, 64 B: two,
// 32 B: one), as TMA does. So a pattern starts at a multiple of 8 * SPAN bytes.
//
// K-major: a row of the pattern is a row of A (a column of B), its bytes go along k. Byte offset of
// element (row, k):
//   SPAN >= 32   row / 8 * stride + row % 8 * SPAN + k * 2
//   SPAN == 16   row / 8 * stride + row % 8 * 16 + k / 8 * leading + k % 8 * 2
// MN-major: a row of the pattern is one k, its bytes go along the rows of A (the columns of B).
// With W = SPAN / 2 elements in a row:
//   SPAN >= 32   k / 8 * stride + k % 8 * SPAN + row / W * leading + row % W * 2
//   SPAN == 16   the same, but stride and leading have changed places
// The next 16 k of a K-major tile with SPAN >= 32 stand 32 bytes further in the same rows: add 2 to
// the descriptor, which counts in 16 bytes. Elsewhere add the bytes from one to the other / 16.
// PTX ISA, "Matrix Descriptor Format", "Canonical Layouts".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

// Bits 62 and 63 of a descriptor.
__host__ __device__ constexpr uint64_t wgmma_swizzle_mode(int span_bytes) {
  return span_bytes == 128 ? 1 : span_bytes == 64 ? 2 : span_bytes == 32 ? 3 : 0;
}

// start_addr: of the tile's first element, in the shared window.
template <int SPAN>
__host__ __device__ constexpr uint64_t wgmma_descriptor(uint32_t start_addr, uint32_t leading_bytes,
                                                        uint32_t stride_bytes) {
  static_assert(SPAN == 16 || SPAN == 32 || SPAN == 64 || SPAN == 128, "bytes of a row");
  return uint64_t(start_addr >> 4 & 0x3fff) | uint64_t(leading_bytes >> 4 & 0x3fff) << 16 |
         uint64_t(stride_bytes >> 4 & 0x3fff) << 32 | wgmma_swizzle_mode(SPAN) << 62;
}

// A K-major tile whose patterns follow each other: rows of SPAN bytes, SPAN / 2 values of k. This
// is what TMA writes with a box of SPAN bytes and the swizzle of that name.
template <int SPAN>
__host__ __device__ constexpr uint64_t wgmma_k_major(uint32_t start_addr) {
  static_assert(SPAN != 16, "without a swizzle the distance of neighbouring k has to be given");
  return wgmma_descriptor<SPAN>(start_addr, 16, 8 * SPAN);  // leading is not used
}
