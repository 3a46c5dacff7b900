// What the probes of the tensor cores leave behind in `out`:
//   long long cycles[blocks]         SM cycles of each block's loop
//   float sums[blocks * threads]     of each thread's accumulators: keeps the products alive
// One block an SM: FLOP of a block / its cycles is what an SM does in a clock, whatever the launch
// costs and whatever the clock is.
#pragma once
#include "probe.cuh"

__device__ __forceinline__ void leave(void* out, long long cycles, float sum) {
  long long* const all = static_cast<long long*>(out);
  if (threadIdx.x == 0) all[blockIdx.x] = cycles;
  float* const sums = reinterpret_cast<float*>(all + gridDim.x);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Fills shared memory with the numbers that `in` begins with. In any order they are a matrix.
template <int THREADS, int BYTES>
__device__ __forceinline__ void fill(uint4* shared, const uint4* in) {
  for (int i = threadIdx.x; i < BYTES / 16; i += THREADS) shared[i] = in[i];
}
