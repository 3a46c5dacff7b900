// A ring of stages in shared memory: a producer fills them, consumers empty them. Two mbarriers a
// stage say which it is.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/mbarrier.cuh>

// The view of one thread, producer or consumer: which stage is its next, and how often it has been
// round. In round r it waits for phase r of a stage's mbarriers, whose parity is r % 2; the
// producer for the phase before, in round 0 for none: on a new mbarrier, parity 1 is over.
template <int STAGES, int STAGE_BYTES>
struct StageRing {
  static constexpr int BYTES = 2 * STAGES * 8;  // of the mbarriers: full ones, then empty ones
  uint32_t bar_addr;
  int stage = 0, offset = 0;  // offset: of the stage, in bytes
  uint32_t parity = 0;

  __device__ explicit StageRing(uint32_t bar_addr) : bar_addr(bar_addr) {}
  // By one thread, before a barrier of the block. arrivals: how many say that a stage is empty.
  __device__ void init(int arrivals) const {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(bar_addr + i * 8, 1);  // the producer, which also says how many bytes come
      mbarrier_init(bar_addr + (STAGES + i) * 8, arrivals);
    }
    fence_mbarrier_init();
  }
  __device__ uint32_t full_addr() const { return bar_addr + stage * 8; }
  __device__ uint32_t empty_addr() const { return bar_addr + (STAGES + stage) * 8; }
  __device__ void wait_full() const { mbarrier_wait(full_addr(), parity); }
  __device__ void wait_empty() const { mbarrier_wait(empty_addr(), parity ^ 1); }
  __device__ void next() {
    if (++stage == STAGES) {
      stage = 0, offset = 0, parity ^= 1;
    } else {
      offset += STAGE_BYTES;
    }
  }
};
