// What a compiled kernel calls in the runtime: plain C functions, so that names and layouts are the
// same in both, whatever their flags. A `line` is the source line of the call.
#pragma once
#include <cstddef>
#include <cstdint>

struct SimIndex {
  unsigned x, y, z;
};

struct SimLaunch {
  SimIndex grid;
  SimIndex block;
  size_t dynamic_bytes;
};

enum SimShuffle : unsigned { SIM_SHUFFLE_INDEX, SIM_SHUFFLE_UP, SIM_SHUFFLE_DOWN, SIM_SHUFFLE_XOR };

#pragma GCC visibility push(default)
extern "C" {
// Runs body(arguments) once for each thread of the grid; returns a cudaError_t.
int sim_launch(const SimLaunch* launch, void (*body)(void*), void* arguments);

// Constant within a thread, so the compiler may call each of them once.
SimIndex sim_thread_index() __attribute__((const));
SimIndex sim_block_index() __attribute__((const));
SimIndex sim_block_size() __attribute__((const));
SimIndex sim_grid_size() __attribute__((const));

void sim_syncthreads(int line);
void sim_syncwarp(unsigned mask, int line);
uint64_t sim_shuffle(unsigned mask, uint64_t value, SimShuffle mode, unsigned operand,
                     unsigned width, int line);
unsigned sim_ballot(unsigned mask, int predicate, int line);

float sim_atomic_add_f32(float* address, float value);
uint32_t sim_atomic_add_u32(uint32_t* address, uint32_t value);
uint64_t sim_atomic_add_u64(uint64_t* address, uint64_t value);
}
#pragma GCC visibility pop
