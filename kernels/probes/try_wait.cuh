// probe_try_wait: for how long mbarrier.try_wait waits for a phase that does not end.
//
// Idea: one thread asks a barrier at which nobody arrives, and reads the GPU's timer and the SM's
//   cycle counter before and after. A hint that is a time takes as many nanoseconds whatever the
//   clock is, one that is a number of cycles takes as many cycles. From sm_90 on.
#pragma once
#include <ptx/mbarrier.cuh>
#include <ptx/smem.cuh>

#include "globaltimer.cuh"
#include "probe.cuh"

namespace probe_try_wait {

// As mbarrier_try_wait of phase 0, with a limit to the time that it may suspend the thread.
__device__ __forceinline__ bool try_wait_hint(uint32_t bar_addr, uint32_t hint) {
  uint32_t over;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(over)
      : "r"(bar_addr), "r"(hint)
      : "memory");
  return over != 0;
}

// out: of each try its nanoseconds, cycles, and whether the phase was said to be over.
__global__ void kernel(long long* out, int repeats, uint32_t hint) {
  __shared__ uint64_t bar;
  const uint32_t bar_addr = smem_addr(&bar);
  mbarrier_init(bar_addr, 1);
  for (int i = 0; i < repeats; ++i) {
    const unsigned long long start = globaltimer_ns();
    const long long first_cycle = clock64();
    const bool over = hint ? try_wait_hint(bar_addr, hint) : mbarrier_try_wait(bar_addr, 0);
    const long long last_cycle = clock64();
    const unsigned long long end = globaltimer_ns();
    out[3 * i] = static_cast<long long>(end - start);
    out[3 * i + 1] = last_cycle - first_cycle;
    out[3 * i + 2] = over;
  }
}

}  // namespace probe_try_wait

// `repeats` tries with the hint `bytes`, or with none for 0; three 64-bit integers of each to
// `out`.
inline cudaError_t launch_probe_try_wait(const ProbeArgs& p, cudaStream_t stream) {
  return launch(probe_try_wait::kernel, dim3(1), dim3(1), 0, stream, static_cast<long long*>(p.out),
                p.repeats, static_cast<uint32_t>(p.bytes));
}
