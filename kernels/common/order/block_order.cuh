// The order in which a list of blocks takes the tiles of C, such that those that run together share
// rows and columns of tiles, and with them lines of the L2.
#pragma once
#include <cuda_runtime.h>

constexpr int STRIP = 8;  // rows of tiles

// (row, column) of the t-th tile: strips of STRIP rows, column by column within a strip.
__device__ __forceinline__ int2 tile_at(int t, int rows, int columns) {
  const int strip = t / (STRIP * columns) * STRIP;  // its first row
  const int height = min(STRIP, rows - strip);      // the last strip may be lower
  const int within = t - strip * columns;
  return make_int2(strip + within % height, within / height);
}
