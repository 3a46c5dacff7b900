// siboehm/SGEMM_CUDA: C = A * B by the kernel whose number is given.
#include <cstdlib>

#include "numbers.h"
#include "runner.cuh"

int main(int, char** given) {
  float* a = on_device<float>(ROWS, DEPTH, of_a);
  float* b = on_device<float>(DEPTH, COLUMNS, of_b);
  float* c = on_device<float>(ROWS, COLUMNS, zero);
  cublasHandle_t handle;
  cublasCreate(&handle);
  run_kernel(atoi(given[1]), ROWS, COLUMNS, DEPTH, 1.0f, a, b, 0.0f, c, handle);
  return compared(c, row_major, zero);
}
