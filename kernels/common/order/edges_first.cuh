// The order of tiles for a loop that takes less time for tiles of which little lies in C.
#pragma once
#include "block_order.cuh"
#include "../launch/host.cuh"

// Tiles of BM x BN. The last row of tiles comes first if at most half of its rows lie in C, then
// the last column if that is so of its columns; what is left goes in strips. stream_k.cuh cuts
// from the first tile on, these before others.
template <int BM, int BN>
struct EdgesFirst {
  int rows, columns;
  bool low, narrow;  // the last row of tiles, the last column

  __host__ __device__ EdgesFirst(int M, int N)
      : rows(ceil_div(M, BM)),
        columns(ceil_div(N, BN)),
        low(M % BM > 0 && M % BM <= BM / 2),
        narrow(N % BN > 0 && N % BN <= BN / 2) {}
  __host__ __device__ int tiles() const { return rows * columns; }
  __host__ __device__ int light() const { return low * columns + narrow * (rows - low); }
  // (row, column) of the t-th tile.
  __device__ int2 operator[](int t) const {
    if (t < low * columns) return make_int2(rows - 1, t);
    t -= low * columns;
    if (t < narrow * (rows - low)) return make_int2(t, columns - 1);
    return tile_at(t - narrow * (rows - low), rows - low, columns - narrow);
  }
};
