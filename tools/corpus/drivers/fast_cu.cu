// pranjalssh/fast.cu: C = A * B by kernel number KERNEL; B and C are column-major. Before the
// include stand the names that its kernels take from the file that includes them.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <unistd.h>

#include <cassert>
#include <cuda/barrier>
#include <iostream>

#include "numbers.h"

using bf16 = __nv_bfloat16;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
inline void cudaCheck(cudaError_t error) {
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
}

#if KERNEL == 1
#include "matmul_1.cuh"
#define RUN runKernel1
#elif KERNEL == 2
#include "matmul_2.cuh"
#define RUN runKernel2
#elif KERNEL == 3
#include "matmul_3.cuh"
#define RUN runKernel3
#elif KERNEL == 4
#include "matmul_4.cuh"
#define RUN runKernel4
#elif KERNEL == 5
#include "matmul_5.cuh"
#define RUN runKernel5
#elif KERNEL == 6
#include "matmul_6.cuh"
#define RUN runKernel6
#elif KERNEL == 7
#include "matmul_7.cuh"
#define RUN runKernel7
#elif KERNEL == 8
#include "matmul_8.cuh"
#define RUN runKernel8
#elif KERNEL == 9
#include "matmul_9.cuh"
#define RUN runKernel9
#elif KERNEL == 10
#include "matmul_10.cuh"
#define RUN runKernel10
#elif KERNEL == 11
#include "matmul_11.cuh"
#define RUN runKernel11
#elif KERNEL == 12
#include "matmul_12.cuh"
#define RUN runKernel12
#endif

int main() {
  bf16* a = on_device<bf16>(ROWS, DEPTH, of_a);
  bf16* c = on_device<bf16>(ROWS, COLUMNS, zero);
#if KERNEL == 1  // all row-major
  RUN(ROWS, COLUMNS, DEPTH, a, on_device<bf16>(DEPTH, COLUMNS, of_b), c);
  return compared(c, row_major, zero);
#else
  bf16* b = on_device<bf16>(COLUMNS, DEPTH, of_b_columns);
#if KERNEL == 2
  RUN(ROWS, COLUMNS, DEPTH, a, b, c);
#else
  RUN(ROWS, COLUMNS, DEPTH, a, b, c, nullptr);
#endif
  return compared(c, column_major, zero);
#endif
}
