// Boxes of A that are no higher than A, where A is lower than a tile.
#pragma once
#include <ptx/fence.cuh>

#include "../launch/host.cuh"

// Rows of A in a box. Of one that reaches below A zeros take the copy engine as long as elements
// (clipped_boxes.cuh), so where all of A is lower than a tile, the box is no higher than A.
template <class S>
__host__ __device__ int box_rows(int M) {
  return S::LOW ? min(S::BM, ceil_div(M, 8) * 8) : S::BM;
}
// Zeros in the rows that no box brings: wgmma reads them. Their sums never come into C, but memory
// that nobody has written must not be read.
template <class S>
__device__ void clear_below(unsigned char* smem, int rows) {
  if (rows == S::BM) return;
  for (int stage = 0; stage < S::STAGES; ++stage)
    for (int i = rows * 128 + threadIdx.x * 16; i < S::A_BYTES; i += S::THREADS * 16)
      *reinterpret_cast<uint4*>(smem + stage * S::STAGE_BYTES + i) = make_uint4(0, 0, 0, 0);
  fence_proxy_async();
}
