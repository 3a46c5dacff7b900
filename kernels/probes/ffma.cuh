// probe_ffma: what the FMA pipe gives when nothing else happens.
//
// Idea: every thread keeps 32 independent accumulators in registers and adds a * b to each of them,
//   over and over; 32 warps an SM hide the latency. No memory, no barrier, 1 loop branch in 512
//   FFMAs. This, not the product of units and clock, is the ceiling of an fp32 GEMM on CUDA cores.
#pragma once
#include "probe.cuh"

namespace probe_ffma {

constexpr int THREADS = 256, BLOCKS_PER_SM = 4;  // 32 warps an SM
constexpr int ACCUMULATORS = 32, UNROLL = 16;
constexpr long long FLOP_PER_REPEAT_AND_SM = 2LL * ACCUMULATORS * UNROLL * THREADS * BLOCKS_PER_SM;

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) kernel(float* out, int repeats) {
  // Operands that differ from thread to thread: equal ones would draw less power than real data.
  const float a = 1.0f + 1e-3f * threadIdx.x, b = 1.0f - 1e-4f * threadIdx.x;
  float acc[ACCUMULATORS];
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) acc[i] = i;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
#pragma unroll
      for (int i = 0; i < ACCUMULATORS; ++i) acc[i] = fmaf(a, b, acc[i]);
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) sum += acc[i];
  if (sum == -1.0f) *out = sum;  // never true, but the compiler cannot know
}

}  // namespace probe_ffma

// `repeats` iterations of 512 FFMAs a thread.
inline cudaError_t launch_probe_ffma(const ProbeArgs& p, cudaStream_t stream) {
  using namespace probe_ffma;
  return launch(kernel, dim3(sm_count() * BLOCKS_PER_SM), dim3(THREADS), 0, stream,
                static_cast<float*>(p.out), p.repeats);
}
