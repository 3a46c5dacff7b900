// Intrinsics, primitives of a warp, cooperative groups and cuda::barrier, in kernels that check
// themselves: each counts what is wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cublas_v2.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <stdio.h>

namespace cg = cooperative_groups;
__device__ int wrong;
#define EXPECT(holds) \
  if (!(holds)) atomicAdd(&wrong, 1), printf("line %d\n", __LINE__)

__global__ void intrinsics() {
  EXPECT(__mul24(-3, 5) == -15 && __umulhi(0x80000000u, 4) == 2);
  EXPECT(__float_as_uint(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
  EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(1.1f) == 2);
  EXPECT(__brev(1) == 0x80000000u && __byte_perm(0x33221100, 0x77665544, 0x6420) == 0x66442200);
  EXPECT(__dp4a(0x01020304, 0x01010101, 1) == 11 && __popcll(~0ull) == 64);
  EXPECT(fabsf(__expf(0.0f) - 1) < 1e-6f && __fdividef(6, 3) == 2 && rsqrtf(4) == 0.5f);
  EXPECT(__funnelshift_l(0x80000000u, 1, 1) == 3 && __clz(1) == 31 && __ffs(8) == 4);
  EXPECT(__saturatef(3) == 1 && min(3, 4u) == 3 && __hadd(half(1), half(2)) == half(3));
  EXPECT(__isShared(&wrong) == false && clock64() > 0);
  const float third = __fdiv_rd(1, 3), above = __fdiv_ru(1, 3);
  EXPECT(third < above && __fdiv_rz(-1, 3) == -third && nextafterf(third, 1) == above);
  EXPECT(__fadd_rd(1, 1e-9f) == 1 && __fadd_ru(1, 1e-9f) > 1 && __fsqrt_rd(2) < __fsqrt_ru(2));
  EXPECT(__dmul_rd(0.1, 0.1) < __dmul_ru(0.1, 0.1) && __fma_rz(0.1, 0.1, -1e-20) > 0);
}

// Until another thread has changed it, or for a time. The second one sees the change: all threads
// of the block wait at the same time.
__global__ void times(volatile int* flag) {
  const clock_t start = clock();
  if (threadIdx.x == 0) {
    while (clock() - start < 1000000) {
    }
    *flag = 1;
  } else {
    while (*flag == 0 && clock64() - start < 1000000000000) {
    }
    EXPECT(*flag == 1);
  }
}

__global__ void warps(unsigned* counter) {
  const unsigned lane = threadIdx.x % 32;
  EXPECT(__shfl_down_sync(~0u, lane, 1) == (lane < 31 ? lane + 1 : 31));
  EXPECT(__ballot_sync(~0u, lane & 1) == 0xaaaaaaaau && __any_sync(~0u, lane == 7));
  EXPECT(__reduce_add_sync(~0u, lane) == 496);
  EXPECT(__match_any_sync(~0u, lane / 8) == 0xffu << lane / 8 * 8);
  EXPECT(__syncthreads_count(threadIdx.x < 10) == 10);
  EXPECT(__syncthreads_or(threadIdx.x == 70) && !__syncthreads_and(threadIdx.x != 3));
  atomicInc(counter, 9);
}

__device__ unsigned size_of(const cg::thread_group& group) {
  group.sync();
  return group.size();
}

__global__ void groups() {
  const cg::thread_block block = cg::this_thread_block();
  EXPECT(block.size() == 96 && block.thread_rank() == threadIdx.x);
  const auto tile = cg::tiled_partition<8>(block);
  EXPECT(tile.shfl(threadIdx.x, 0) == threadIdx.x / 8 * 8 && tile.thread_rank() == threadIdx.x % 8);
  EXPECT(cg::reduce(tile, 1, cg::plus<int>()) == 8);
  EXPECT(tile.shfl_xor(int(tile.thread_rank()), 1) == int(tile.thread_rank() ^ 1));
  EXPECT(tile.ballot(tile.thread_rank() == 2) == 4);
  EXPECT(tile.shfl(make_uint4(1, 2, 3, threadIdx.x), 1).w == threadIdx.x / 8 * 8 + 1);
  if (threadIdx.x % 3 == 0) {  // a third of each warp
    const auto here = cg::coalesced_threads();
    EXPECT(here.size() == (threadIdx.x / 32 == 0 ? 11 : threadIdx.x / 32 == 1 ? 11 : 10));
    EXPECT(here.shfl(threadIdx.x, 0) == (threadIdx.x / 32 * 32 + 2) / 3 * 3);
    here.sync();
  }
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const bool odd = threadIdx.x & 1;
  const auto half = cg::binary_partition(warp, odd);
  EXPECT(half.size() == 16 && cg::reduce(half, int(odd), cg::plus<int>()) == 16 * odd);
  EXPECT(cg::labeled_partition(warp, threadIdx.x / 4).size() == 4);
  EXPECT(size_of(block) == 96 && size_of(warp) == 32);
  EXPECT(size_of(cg::tiled_partition(block, 16)) == 16);
  cg::sync(block);
}

// Tiles of two warps, one of which comes to its barrier more often than the other.
__global__ void wide(float* in) {
  __shared__ cg::block_tile_memory<192> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  EXPECT(tile.size() == 64 && tile.meta_group_size() == 3 &&
         tile.thread_rank() == threadIdx.x % 64);
  const int first = int(threadIdx.x / 64 * 64);
  for (unsigned round = 0; round <= tile.meta_group_rank(); ++round)
    EXPECT(cg::reduce(tile, int(threadIdx.x), cg::plus<int>()) == 64 * first + 63 * 32);
  EXPECT(cg::reduce(tile, 1.0 + threadIdx.x, cg::greater<double>()) == first + 64);
  in[threadIdx.x] = threadIdx.x;
  tile.sync();
  EXPECT(in[threadIdx.x ^ 63] == (threadIdx.x ^ 63));
}

__global__ void copied(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[96];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  const auto four = cuda::aligned_size_t<4>(4);
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], four, barrier);
  barrier.arrive_and_wait();  // [wait]
  out[threadIdx.x] = tile[95 - threadIdx.x];
}

__global__ void piped(const float* in) {
  __shared__ float tile[2][32];
  auto pipe = cuda::make_pipeline();
  for (int stage = 0; stage < 2; ++stage) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[stage][threadIdx.x], &in[32 * stage + threadIdx.x], sizeof(float),
                       pipe);
    pipe.producer_commit();
  }
  for (int stage = 0; stage < 2; ++stage) {
    pipe.consumer_wait();  // [oldest]
    EXPECT(tile[stage][threadIdx.x] == 32 * stage + threadIdx.x);
    pipe.consumer_release();
  }
}

// The group's threads copy for each other; the wait is one of all of them.
__global__ void gathered(const float* in) {
  __shared__ float tile[2][96];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, 96 * sizeof(float));
  cg::memcpy_async(block, tile[1], 96, in, 90);
  cg::wait_prior<1>(block);  // [first]
  EXPECT(tile[0][95 - threadIdx.x] == 95 - threadIdx.x);
  cg::wait(block);
  EXPECT(threadIdx.x > 89 || tile[1][89 - threadIdx.x] == 89 - threadIdx.x);
}

int main() {
  unsigned *counter, zero = 0;
  float* values;
  cudaMalloc(&counter, sizeof zero);
  cudaMemcpy(counter, &zero, sizeof zero, cudaMemcpyHostToDevice);
  cudaMallocManaged(&values, 2 * 96 * sizeof(float));
  for (int i = 0; i < 96; ++i) values[i] = i;
  intrinsics<<<1, 1>>>();
  warps<<<1, 96>>>(counter);
  groups<<<1, 96>>>();
  wide<<<1, 192>>>(values);
  for (int i = 0; i < 96; ++i) values[i] = i;
  copied<<<1, 96>>>(values, values + 96);
  piped<<<1, 32>>>(values);
  gathered<<<1, 96>>>(values);
  int* flag;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  times<<<1, 64>>>(flag);
  int failed;
  unsigned count;
  cudaMemcpyFromSymbol(&failed, wrong, sizeof failed);
  cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost);
  failed += count != 96 % 10;
  failed += values[96] != 95;
  // [1, 2; 3, 4] * [1, 1; 1, 1], by columns.
  float *matrix, one = 1, nought = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cudaMallocManaged(&matrix, 12 * sizeof(float));
  for (int i = 0; i < 4; ++i) matrix[i] = i + 1, matrix[4 + i] = 1;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, matrix, 2, matrix + 4, 2, &nought,
              matrix + 8, 2);
  failed += matrix[8] != 4 || matrix[9] != 6;
  printf(failed ? "%d wrong\n" : "right\n", failed);
  return failed;
}
