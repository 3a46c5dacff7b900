// The order in which clusters take the tiles of C, as a value that the host makes.
#pragma once
#include "divisor.cuh"

// Strips of rows of tiles, column by column within a strip, to the right in one strip and back to
// the left in the next: at a strip's end, its last columns of B are still in the L2.
struct Snake {
  int rows, columns, strip;
  Divisor size, height, last;  // tiles of a strip; rows of a strip, and of the last one

  __host__ Snake(int rows, int columns, int most)
      : rows(rows),
        columns(columns),
        strip(max(1, min(most, rows))),
        size(max(1, strip * columns)),
        height(strip),
        last(rows % strip ? rows % strip : strip) {}
  __host__ __device__ int tiles() const { return rows * columns; }
  // (row, column) of the t-th tile.
  __device__ int2 operator[](int t) const {
    const int strip_id = size(t), first = strip_id * strip, within = t - strip_id * size.by;
    const bool low = first + strip > rows;
    const int column = low ? last(within) : height(within);
    const int row = first + within - column * (low ? last.by : height.by);
    return make_int2(row, strip_id % 2 ? columns - 1 - column : column);
  }
};

// As few teams, of `most` that there is room for, as finish in the same number of waves.
inline int fewest_teams(int tiles, int most) {
  const int waves = ceil_div(tiles, most);
  return waves == 0 ? 0 : ceil_div(tiles, waves);
}
