// The SM's clock during a kernel: when each block begins and ends, in cycles and in nanoseconds.
//
// Idea: block_clock_begin is the first statement of a kernel, block_clock_end its last one. Both
//   clocks are read and written to memory at once, so no register lives through the kernel for
//   them: at the begin by thread 0 of a block, at the end by the first thread of each
//   warpgroup. Threads that return earlier write no end: an end at each return would change the
//   code of warps that do other work, such as producers. No step has these lines. The build that
//   counts cycles puts them into a copy of the step's text (lib/gemmlab/steps/clocked.py).
#pragma once
#include <cuda_runtime.h>

#include "globaltimer.cuh"

// What a block leaves: the SM that it ran on, and both clocks at its begin and end.
struct BlockClockLine {
  long long sm, begin_cycle, begin_ns, end_cycle, end_ns;
};

// lines: `capacity` of each kernel of the file, one kernel behind the other; null: nobody reads.
// first: the earliest begin. lost: 1 if a kernel had more blocks than lines.
struct BlockClockBuffer {
  BlockClockLine* lines;
  unsigned long long* first;
  long long* lost;
  unsigned capacity;
};

__device__ BlockClockBuffer block_clock_buffer;

__device__ __forceinline__ bool block_clock_leads() {
  return (threadIdx.x | threadIdx.y | threadIdx.z) == 0;
}

// The line of this block, or null.
__device__ __forceinline__ BlockClockLine* block_clock_line(int kernel) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const BlockClockBuffer to = block_clock_buffer;
  if (to.lines == nullptr) return nullptr;
  if (block < to.capacity) return to.lines + kernel * (size_t)to.capacity + block;
  *to.lost = 1;
  return nullptr;
}

__device__ __forceinline__ void block_clock_begin(int kernel) {
  if (!block_clock_leads()) return;
  if (BlockClockLine* line = block_clock_line(kernel)) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    line->sm = sm;
    const unsigned long long ns = globaltimer_ns();
    line->begin_cycle = clock64();
    line->begin_ns = (long long)ns;
    atomicMin(block_clock_buffer.first, ns);
  }
}

// Warpgroups may end one after the other, as consumers that take turns do: the first thread of each
// comes here, and the latest stays.
__device__ __forceinline__ void block_clock_end(int kernel) {
  const unsigned row = threadIdx.z * blockDim.y + threadIdx.y;
  if ((row * blockDim.x + threadIdx.x) % 128 != 0) return;
  const unsigned long long ns = globaltimer_ns();
  const long long cycle = clock64();
  if (BlockClockLine* line = block_clock_line(kernel)) {
    atomicMax(&line->end_cycle, cycle);
    atomicMax(&line->end_ns, (long long)ns);
  }
}

inline int block_clock_into(unsigned long long lines, unsigned long long words, unsigned capacity) {
  unsigned long long* two = reinterpret_cast<unsigned long long*>(words);
  const BlockClockBuffer to = {reinterpret_cast<BlockClockLine*>(lines), two,
                               reinterpret_cast<long long*>(two + 1), capacity};
  return cudaMemcpyToSymbol(block_clock_buffer, &to, sizeof to);
}
