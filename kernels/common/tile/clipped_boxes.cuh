// The boxes that a producer loads of a tile at an edge of C: zeros take the copy engine at least as
// long as elements, so boxes in which nothing of C is are not asked for.
#pragma once
#include <ptx/tma.cuh>

#include "../launch/host.cuh"
#include "warp_tile.cuh"

// Rows of A in a box, and in the only one of a tile that has no more.
constexpr int BOX = 64, LOW_BOX = 16;

// What the producer loads of a tile whose first element is at (row, col) of C: the boxes in which
// some row or column of C is. S: the tile, BM x BN, in stages with A_BYTES of A, then B, in rows of
// ROW_BYTES. THIN: it has no more than LOW_BOX rows.
template <class S>
struct Boxes {
  int row, col;
  int rows, columns;  // of C, from there on
  bool low;

  __device__ Boxes(int row, int col, int M, int N)
      : row(row), col(col), rows(M - row), columns(N - col), low(S::THIN || rows <= LOW_BOX) {}
  __device__ int bytes() const {
    const int lines = low ? LOW_BOX : min(S::BM, ceil_div(rows, BOX) * BOX);
    return (lines + min(S::BN, ceil_div(columns, LINE) * LINE)) * S::ROW_BYTES;
  }
  __device__ __forceinline__ void load(const CUtensorMap* map_a, const CUtensorMap* map_low,
                                       const CUtensorMap* map_b, uint32_t to_addr,
                                       uint32_t bar_addr, int k) const {
#pragma unroll
    for (int i = 0; i < S::BM; i += BOX)
      if (i == 0 || i < rows)
        tma_load_2d(to_addr + i * S::ROW_BYTES, low ? map_low : map_a, bar_addr, k, row + i);
#pragma unroll
    for (int j = 0; j < S::BN; j += LINE)
      if (j == 0 || j < columns)
        tma_load_2d(to_addr + S::A_BYTES + j * S::ROW_BYTES, map_b, bar_addr,
                    S::TURN_B ? k : col + j, S::TURN_B ? col + j : k);
  }
};
