// xlite-dev/LeetCUDA: C = A * B by the template KERNEL of the file that SOURCE names, launched
// here: the file's own host functions take PyTorch's tensors. STAGES: of buffers, where the kernel
// has them.
#include <algorithm>

#include "numbers.h"

#define SGEMM_ASYNC 1
#define HGEMM_ASYNC 2
#define WMMA_STAGE 3
#define MMA_STAGE 4
#define MMA_STAGE_TN_SWIZZLE 5

#if SOURCE == SGEMM_ASYNC
#include "sgemm_async.cu"
using Element = float;
#elif SOURCE == HGEMM_ASYNC
#include "hgemm_async.cu"
using Element = half;
#elif SOURCE == WMMA_STAGE
#include "hgemm_wmma_stage.cu"
using Element = half;
#elif SOURCE == MMA_STAGE
#include "hgemm_mma_stage.cu"
using Element = half;
#elif SOURCE == MMA_STAGE_TN_SWIZZLE
#include "hgemm_mma_stage_tn_swizzle.cu"
using Element = half;
#endif

int main() {
  Element* a = on_device<Element>(ROWS, DEPTH, of_a);
  Element* b = b_on_device<Element>();
  Element* c = on_device<Element>(ROWS, COLUMNS, zero);
  auto kernel = KERNEL;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
  dim3 grid(COLUMNS / TILE_COLUMNS, ROWS / TILE_ROWS), block(BLOCK);
  kernel<<<grid, block, SHARED_BYTES>>>(a, b, c, ROWS, COLUMNS, DEPTH);
  return compared(c, row_major, zero);
}
