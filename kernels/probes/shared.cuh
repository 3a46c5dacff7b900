// probe_shared: how many bytes an SM reads from its shared memory.
//
// Idea: every thread reads 16 bytes at a time, neighbouring lanes neighbouring bytes: no request
// has
//   a bank conflict, each takes 4 wavefronts. 32 warps an SM and 16 independent loads hide the
//   latency. The first address moves with every repeat, so that no load can be taken out of the
//   loop.
#pragma once
#include "probe.cuh"

namespace probe_shared {

constexpr int THREADS = 512, BLOCKS_PER_SM = 2;  // 32 warps an SM
constexpr int LOADS = 16, STEP = 64;             // loads a repeat, and how far apart (in 16 bytes)
constexpr int STARTS = 1024;                     // the first load begins at one of these
constexpr long long BYTES_PER_REPEAT_AND_SM = 16LL * LOADS * THREADS * BLOCKS_PER_SM;

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) kernel(unsigned* out, int repeats) {
  __shared__ uint4 words[STARTS + STEP * LOADS];  // 32 KB
  for (int i = threadIdx.x; i < STARTS + STEP * LOADS; i += THREADS)
    words[i] = make_uint4(i, i + 1, i + 2, i + 3);
  __syncthreads();
  unsigned mix = 0;
  for (int r = 0; r < repeats; ++r) {
    const uint4* first = &words[(threadIdx.x + 32 * r) % STARTS];
#pragma unroll
    for (int j = 0; j < LOADS; ++j) {
      const uint4 v = first[j * STEP];
      mix += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (mix == 0x9e3779b9u) *out = mix;  // keeps the loads alive
}

}  // namespace probe_shared

// `repeats` times 16 loads of 16 bytes a thread.
inline cudaError_t launch_probe_shared(const ProbeArgs& p, cudaStream_t stream) {
  using namespace probe_shared;
  return launch(kernel, dim3(sm_count() * BLOCKS_PER_SM), dim3(THREADS), 0, stream,
                static_cast<unsigned*>(p.out), p.repeats);
}
