// The barrier of a whole grid, in cooperative launches: `grids CASE`; without one, what is correct.
#include <cooperative_groups.h>

#include <cassert>
#include <cstdio>
#include <string>

namespace cg = cooperative_groups;
constexpr int BLOCKS = 5, THREADS = 64, ALL = BLOCKS * THREADS;

// Every round each thread reads what another block has written in the round before.
__global__ void around(int* from, int* to, int rounds, bool synchronized) {
  const cg::grid_group grid = cg::this_grid();
  const int mine = int(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    to[mine] = from[(mine + THREADS) % ALL] + 1;  // [use]
    if (synchronized) grid.sync();
    int* const next = from;
    from = to;
    to = next;
  }
}
__global__ void leaves() {
  if (blockIdx.x == 3) return;
  cg::sync(cg::this_grid());  // [left]
}
// The last block to take a ticket, a variable of the program's, adds up what all have left.
__device__ unsigned tickets;
__global__ void last_adds(int* sums, bool fenced) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = blockIdx.x + 1;  // [left for the last]
    if (fenced) __threadfence();
    is_last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  __threadfence();
  if (is_last && threadIdx.x == 1)
    for (unsigned i = 1; i < gridDim.x; ++i) sums[0] += sums[i];  // [added up]
}
__global__ void asserts() { assert(threadIdx.x < 60); }

template <class... Params>
cudaError_t launched(void (*kernel)(Params...), void** arguments, int blocks = BLOCKS) {
  return cudaLaunchCooperativeKernel((void*)kernel, dim3(blocks), dim3(THREADS), arguments);
}

// By the attribute of an extensible launch.
cudaError_t extended(int* from, int* to, int rounds) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {dim3(BLOCKS), dim3(THREADS), 0, nullptr, &attribute, 1};
  return cudaLaunchKernelEx(&config, around, from, to, rounds, true);
}

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  int *from, *to, rounds = 8, wrong = 0;
  bool synchronized = wanted != "race";
  cudaMallocManaged(&from, ALL * sizeof(int));
  cudaMallocManaged(&to, ALL * sizeof(int));
  for (int i = 0; i < ALL; ++i) from[i] = i;
  void* arguments[] = {&from, &to, &rounds, &synchronized};
  if (wanted == "plain") around<<<BLOCKS, THREADS>>>(from, to, rounds, synchronized);
  if (wanted == "leaves") launched(leaves, nullptr);
  if (wanted == "many") launched(leaves, nullptr, 133);
  if (wanted == "assertion") {
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    asserts<<<1, THREADS>>>();
    wrong += cudaDeviceSynchronize() != cudaErrorAssert;
    wrong += cudaStreamSynchronize(nullptr) != cudaErrorAssert;
    wrong += cudaGetLastError() != cudaErrorAssert;  // stays
    wrong += cudaGetLastError() != cudaErrorAssert;
  }
  if (wanted == "" || wanted == "race") {
    launched(around, arguments);
    for (int i = 0; i < ALL; ++i) wrong += from[i] != (i + rounds * THREADS) % ALL + rounds;
    if (wanted == "") extended(from, to, 2);
    const int after = rounds + 2;
    if (wanted == "")
      for (int i = 0; i < ALL; ++i) wrong += from[i] != (i + after * THREADS) % ALL + after;
  }
  if (wanted == "" || wanted == "unfenced") {
    last_adds<<<BLOCKS, THREADS>>>(to, wanted == "");
    wrong += to[0] != BLOCKS * (BLOCKS + 1) / 2;
  }
  printf(wrong ? "%d wrong\n" : "right\n", wrong);
  return wrong != 0 && wanted != "race";
}
