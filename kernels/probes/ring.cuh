// ring: how a kernel with TMA fills its stages and frees them again, and nothing else.
//
// Idea: A and B are vectors, cut into tiles of 1024 floats; tile t stands in stage t mod `stages`,
//   for the (t div stages)-th time. full[s] is over when both boxes of a tile have landed, empty[s]
//   when every consumer warp has read it. In place of an mma, thread i adds up products of elements
//   i, i + threads, ... of all tiles: sums[i]. Two kernels: one with a producer warp, and one in
//   which thread 0 refills a stage behind a __syncthreads().
//
// gemmlab/ring.py breaks single lines of it, to see what goes wrong.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>
#include <ptx/tma.cuh>

#include "../common/launch/host.cuh"
#include "../common/launch/tensor_map.cuh"

namespace ring {

constexpr int ROWS = 32, COLUMNS = 32;  // of a box: a tile of one matrix
constexpr int MAX_STAGES = 4;

struct Stage {
  float A[ROWS * COLUMNS], B[ROWS * COLUMNS];
};

// [fill]
// By one thread: its arrival, the bytes of both boxes, and the two copies.
__device__ __forceinline__ void fill(Stage& stage, uint32_t full_addr, const CUtensorMap& map_a,
                                     const CUtensorMap& map_b, int t) {
  mbarrier_arrive_expect_tx(full_addr, sizeof(Stage));
  tma_load_2d(smem_addr(stage.A), &map_a, full_addr, 0, t * ROWS);
  tma_load_2d(smem_addr(stage.B), &map_b, full_addr, 0, t * ROWS);
}
// [/fill]

__device__ __forceinline__ float dot(const Stage& stage, int thread, int threads) {
  float sum = 0.0f;
  for (int i = thread; i < ROWS * COLUMNS; i += threads) sum += stage.A[i] * stage.B[i];
  return sum;
}

// Warp 0 fills the stages, the others read them.
__global__ void producer_kernel(const __grid_constant__ CUtensorMap map_a,
                                const __grid_constant__ CUtensorMap map_b, float* sums, int tiles,
                                int stages) {
  __shared__ __align__(128) Stage stage[MAX_STAGES];
  __shared__ uint64_t full[MAX_STAGES], empty[MAX_STAGES];
  const int warp_id = threadIdx.x / 32, lane_id = threadIdx.x % 32;
  const int consumers = blockDim.x / 32 - 1;

  // [init]
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier_init(smem_addr(&full[s]), 1);           // the arrive.expect_tx of the producer
      mbarrier_init(smem_addr(&empty[s]), consumers);  // lane 0 of each reading warp
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  // [/init]

  // [produce]
  if (threadIdx.x == 0) {
    for (int t = 0; t < tiles; ++t) {
      const int s = t % stages, parity = t / stages % 2;
      mbarrier_wait(smem_addr(&empty[s]), parity ^ 1);  // free: at once in the first round
      fill(stage[s], smem_addr(&full[s]), map_a, map_b, t);
    }
  }
  // [/produce]

  // [consume]
  if (warp_id > 0) {
    const int thread = threadIdx.x - 32;
    float sum = 0.0f;
    for (int t = 0; t < tiles; ++t) {
      const int s = t % stages, parity = t / stages % 2;
      mbarrier_wait(smem_addr(&full[s]), parity);
      sum += dot(stage[s], thread, 32 * consumers);
      __syncwarp();  // all lanes have read
      if (lane_id == 0) mbarrier_arrive(smem_addr(&empty[s]));
    }
    sums[thread] = sum;
  }
  // [/consume]
}

// All warps read; thread 0 also fills.
__global__ void sync_kernel(const __grid_constant__ CUtensorMap map_a,
                            const __grid_constant__ CUtensorMap map_b, float* sums, int tiles,
                            int stages) {
  __shared__ __align__(128) Stage stage[MAX_STAGES];
  __shared__ uint64_t full[MAX_STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) mbarrier_init(smem_addr(&full[s]), 1);
    fence_mbarrier_init();
  }
  __syncthreads();

  // [refill]
  if (threadIdx.x == 0)
    for (int t = 0; t < stages - 1 && t < tiles; ++t)
      fill(stage[t], smem_addr(&full[t]), map_a, map_b, t);
  float sum = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    const int s = t % stages, parity = t / stages % 2;
    __syncthreads();  // everyone has read tile t - 1: its stage is free
    const int next = t + stages - 1;
    if (threadIdx.x == 0 && next < tiles)
      fill(stage[next % stages], smem_addr(&full[next % stages]), map_a, map_b, next);
    mbarrier_wait(smem_addr(&full[s]), parity);
    sum += dot(stage[s], threadIdx.x, blockDim.x);
  }
  // [/refill]
  sums[threadIdx.x] = sum;
}

template <class Kernel>
cudaError_t run(Kernel kernel, int warps, const GemmArgs& g, cudaStream_t stream) {
  if (g.M < 2 || g.M > MAX_STAGES) return cudaErrorInvalidValue;
  CUtensorMap map_a, map_b;
  const int rows = g.K * ROWS;
  constexpr auto PLAIN = CU_TENSOR_MAP_SWIZZLE_NONE;
  cudaError_t error = encode_tensor_map(&map_a, static_cast<const float*>(g.A), rows, COLUMNS,
                                        COLUMNS, ROWS, COLUMNS, PLAIN);
  if (error == cudaSuccess)
    error = encode_tensor_map(&map_b, static_cast<const float*>(g.B), rows, COLUMNS, COLUMNS, ROWS,
                              COLUMNS, PLAIN);
  if (error != cudaSuccess) return error;
  return launch(kernel, 1, 32 * warps, 0, stream, map_a, map_b, static_cast<float*>(g.C), g.K, g.M);
}

}  // namespace ring

// M: stages, 2 to 4. N: warps that read. K: tiles; A and B have 1024 K floats, C has 32 N.
inline cudaError_t launch_ring_producer(const GemmArgs& g, cudaStream_t stream) {
  return ring::run(ring::producer_kernel, g.N + 1, g, stream);
}

inline cudaError_t launch_ring_sync(const GemmArgs& g, cudaStream_t stream) {
  return ring::run(ring::sync_kernel, g.N, g, stream);
}
