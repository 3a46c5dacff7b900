// The order in which clusters take the tiles of C, as a value that the host makes.
#pragma once
#include "../launch/host.cuh"

// Division of what is not negative by a number that the host knows: by multiplication, for a
// division takes a hundred cycles.
struct Divisor {
  int by;
  uint32_t magic;

  __host__ explicit Divisor(int by)
      : by(by), magic(by == 1 ? 0 : static_cast<uint32_t>((1ull << 32) / by + 1)) {}
  // magic is 2^32 / by and less than 1 more: the product is too large by less than value / 2^32, so
  // by 1 at most.
  __device__ int operator()(int value) const {
    const int quotient = static_cast<int>(static_cast<uint64_t>(value) * magic >> 32);
    if (by == 1) return value;
    return quotient - (static_cast<uint32_t>(quotient) * by > static_cast<uint32_t>(value));
  }
};

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
