// HazyResearch/ThunderKittens: C = A * B by the function matmul of a level that needs no library.
// The file's own main() multiplies 1024 or 4096 squared, too much for a test.
#define main main_of_the_level
#include "level_01.cu"
#undef main

#include "numbers.h"

int main() {
  float* a = on_device<float>(ROWS, DEPTH, of_a);
  float* b = on_device<float>(DEPTH, COLUMNS, of_b);
  float* c = on_device<float>(ROWS, COLUMNS, zero);
  matmul(a, b, c, ROWS);
  return compared(c, row_major, zero);
}
