// probe_hold: keeps the GPU from starting what is launched next.
//
// Idea: one thread spins for `repeats` microseconds of the GPU's timer. The rest of the GPU and its
//   caches stay as they were.
#pragma once
#include "globaltimer.cuh"
#include "probe.cuh"

namespace probe_hold {

__global__ void kernel(int microseconds) {
  const unsigned long long start = globaltimer_ns();
  while (globaltimer_ns() < start + 1000ULL * microseconds) {
  }
}

}  // namespace probe_hold

// Spins for `repeats` microseconds.
inline cudaError_t launch_probe_hold(const ProbeArgs& p, cudaStream_t stream) {
  return launch(probe_hold::kernel, dim3(1), dim3(1), 0, stream, p.repeats);
}
