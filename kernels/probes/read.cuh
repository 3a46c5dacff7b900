// probe_read: how fast the SMs can read a footprint of a given size.
//
// Idea: all threads walk over `bytes` bytes, `repeats` times, with eight 16-byte loads in flight
//   each. A footprint well inside the L2 cache measures L2, one of many times its size DRAM. The
//   loads bypass L1 (ld.global.cg), which would otherwise serve the second pass.
#pragma once
#include "probe.cuh"

namespace probe_read {

constexpr int THREADS = 512, BLOCKS_PER_SM = 2;  // 64 registers a thread: room for the loads
constexpr int LOADS = 8;

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    kernel(const uint4* in, unsigned* out, long long count, int repeats) {
  const long long first = (long long)blockIdx.x * THREADS + threadIdx.x;
  const long long step = (long long)gridDim.x * THREADS;
  unsigned mix = 0;
  for (int r = 0; r < repeats; ++r) {
    for (long long i = first; i < count; i += LOADS * step) {
      uint4 v[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; ++j)
        v[j] = i + j * step < count ? __ldcg(&in[i + j * step]) : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int j = 0; j < LOADS; ++j) mix += v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    }
  }
  if (mix == 0x9e3779b9u) *out = mix;  // keeps the loads alive
}

}  // namespace probe_read

// `repeats` passes over `bytes` bytes.
inline cudaError_t launch_probe_read(const ProbeArgs& p, cudaStream_t stream) {
  using namespace probe_read;
  return launch(kernel, dim3(sm_count() * BLOCKS_PER_SM), dim3(THREADS), 0, stream,
                static_cast<const uint4*>(p.in), static_cast<unsigned*>(p.out),
                p.bytes / static_cast<long long>(sizeof(uint4)), p.repeats);
}
