// A ring of stages in shared memory. A producer fills the stages, and consumers empty them. Each
// stage has two mbarriers: one says that it is full, the other that it is empty.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/mbarrier.cuh>

// The ring as one thread sees it, producer or consumer: its next stage, and its round. In round r a
// consumer waits for phase r of a stage's full barrier, whose parity is r % 2. The producer waits
// for phase r - 1 of the empty one; in round 0 that returns at once, as parity 1 on a new mbarrier.
template <int STAGES, int STAGE_BYTES>
struct StageRing {
  static constexpr int BYTES = 2 * STAGES * 8;  // of the mbarriers: full ones, then empty ones
  uint32_t bar_addr;
  int stage = 0, offset = 0;  // offset: of the stage, in bytes
  uint32_t parity = 0;

  __device__ explicit StageRing(uint32_t bar_addr) : bar_addr(bar_addr) {}
  // One thread calls it, before a barrier of all that use the ring. arrivals: how many make a stage
  // empty.
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
  // Passes over `count` stages that other consumers use.
  __device__ void skip(int count) {
    parity ^= (stage + count) / STAGES & 1;
    stage = (stage + count) % STAGES, offset = stage * STAGE_BYTES;
  }
  // A consumer calls it when it has read a stage.
  __device__ static void arrive_empty(uint32_t empty_addr) { mbarrier_arrive(empty_addr); }
  __device__ void next() {
    if (++stage == STAGES) {
      stage = 0, offset = 0, parity ^= 1;
    } else {
      offset += STAGE_BYTES;
    }
  }
};
