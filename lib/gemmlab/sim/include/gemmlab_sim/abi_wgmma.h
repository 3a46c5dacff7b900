// What a compiled kernel calls for wgmma. Unlike other operands, accumulators and the registers of
// A are given by address: they are read and written when they are waited for, and what the kernel
// does to them in between has to be seen.
#pragma once
#include <cstdint>

// N, and these.
enum SimWgmma : unsigned {
  SIM_WGMMA_N = 0x1ff,
  SIM_WGMMA_BFLOAT = 1 << 9,
  SIM_WGMMA_TRANS_A = 1 << 10,
  SIM_WGMMA_TRANS_B = 1 << 11,
  SIM_WGMMA_ACCUMULATE = 1 << 12,
};

#pragma GCC visibility push(default)
extern "C" {
void sim_wgmma_fence(int line);
void sim_wgmma_commit(int line);
void sim_wgmma_wait(unsigned groups, int line);
// a: four registers, or null for an operand in shared memory, which desc_a describes.
void sim_wgmma(unsigned form, float* d, const uint32_t* a, uint64_t desc_a, uint64_t desc_b,
               int line);
}
#pragma GCC visibility pop
