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
#define SGEMM 6
#define SGEMM_TF32 7
#define HGEMM 8
#define WMMA 9
#define MMA 10
#define MMA_STAGE_TN 11
#define MMA_STAGE_SWIZZLE 12
#define TN_SWIZZLE_X2 13
#define TN_SWIZZLE_X4 14

#if SOURCE == SGEMM_ASYNC
#include "sgemm_async.cu"
#elif SOURCE == HGEMM_ASYNC
#include "hgemm_async.cu"
#elif SOURCE == WMMA_STAGE
#include "hgemm_wmma_stage.cu"
#elif SOURCE == MMA_STAGE
#include "hgemm_mma_stage.cu"
#elif SOURCE == MMA_STAGE_TN_SWIZZLE
#include "hgemm_mma_stage_tn_swizzle.cu"
#elif SOURCE == SGEMM
#include "sgemm.cu"
#elif SOURCE == SGEMM_TF32
#include "sgemm_wmma_tf32_stage.cu"
#elif SOURCE == HGEMM
#include "hgemm.cu"
#elif SOURCE == WMMA
#include "hgemm_wmma.cu"
#elif SOURCE == MMA
#include "hgemm_mma.cu"
#elif SOURCE == MMA_STAGE_TN
#include "hgemm_mma_stage_tn.cu"
#elif SOURCE == MMA_STAGE_SWIZZLE
#include "hgemm_mma_stage_swizzle.cu"
#elif SOURCE == TN_SWIZZLE_X2
#include "hgemm_mma_stage_tn_swizzle_x2.cu"
#elif SOURCE == TN_SWIZZLE_X4
#include "hgemm_mma_stage_tn_swizzle_x4.cu"
#endif

#if SOURCE == SGEMM || SOURCE == SGEMM_ASYNC || SOURCE == SGEMM_TF32
using Element = float;
#else
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
