// probe_clock: the SM clock, by counting its cycles over a known time.
//
// Idea: one thread spins for `repeats` microseconds and reads both clocks at the two ends. The
//   timer advances in steps, so the spin begins right at a step and ends at the first reading past
//   the target: the error is one turn of the loop. The clock moves within milliseconds, a launch
//   behind the kernel in question therefore sees that kernel's clock.
#pragma once
#include "probe.cuh"

namespace probe_clock {

// Nanoseconds of the GPU-wide timer. It advances in steps of 32 ns to 1 us, depending on the GPU.
__device__ __forceinline__ unsigned long long globaltimer_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void kernel(long long* out, int microseconds) {
  const unsigned long long before = globaltimer_ns();
  unsigned long long start = before, end;
  while (start == before) start = globaltimer_ns();
  const long long first_cycle = clock64();
  do end = globaltimer_ns();
  while (end < start + 1000ULL * microseconds);
  const long long last_cycle = clock64();
  out[0] = last_cycle - first_cycle;
  out[1] = static_cast<long long>(end - start);
}

}  // namespace probe_clock

// Writes two 64-bit integers to `out`: cycles, nanoseconds. `repeats` is the time in microseconds.
inline cudaError_t launch_probe_clock(const ProbeArgs& p, cudaStream_t stream) {
  return launch(probe_clock::kernel, dim3(1), dim3(1), 0, stream, static_cast<long long*>(p.out),
                p.repeats);
}
