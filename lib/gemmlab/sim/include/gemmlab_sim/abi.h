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
  SimIndex cluster;  // 1, 1, 1 where none is asked for
  size_t dynamic_bytes;
  const void* kernel;  // its function, by which its attributes are known
  int dependent;       // it may begin before the one before it has ended
  const char* name;    // of the kernel, and where it is launched; null: not known
  const char* file;
  int line;
  int cooperative;  // all of its blocks are resident together
  // A copy of the arguments, for a launch that comes later, and its end. Null: it never does.
  void* (*keep)(const void* arguments);
  void (*drop)(void* kept);
};

enum SimShuffle : unsigned { SIM_SHUFFLE_INDEX, SIM_SHUFFLE_UP, SIM_SHUFFLE_DOWN, SIM_SHUFFLE_XOR };

#pragma GCC visibility push(default)
extern "C" {
// Runs body(arguments) once for each thread of the grid; returns a cudaError_t.
int sim_launch(const SimLaunch* launch, void (*body)(void*), void* arguments);
// The rest of the host's side (launch.h), by CUDA's numbers. Those that return int return a
// cudaError_t.
int sim_set_attribute(const void* kernel, int attribute, int value);
int sim_device_attribute(int* value, int attribute, int device);
// Whether a launcher may use the memory of its arguments: only for what the device would do.
void sim_open_memory(int usable);
int sim_last_error(int clear);
// Of a kernel that was stopped by an assert(), which stays.
int sim_device_error();
const char* sim_error_name(int error);
const char* sim_error_string(int error);
// A function of the driver, null if there is none of that name.
void* sim_driver_function(const char* name);

// Constant within a thread, so the compiler may call each of them once.
SimIndex sim_thread_index() __attribute__((const));
SimIndex sim_block_index() __attribute__((const));
SimIndex sim_block_size() __attribute__((const));
SimIndex sim_grid_size() __attribute__((const));

// Nanoseconds of this machine.
long long sim_clock();
// Whether a thread of a kernel asks, and not the host.
int sim_on_device();
void sim_syncthreads(int line);
// As well; returns for how many threads of the block the predicate is not 0.
int sim_syncthreads_count(int predicate, int line);
void sim_threadfence();
// Of all blocks of a cooperative launch.
void sim_grid_sync(int line);
int sim_is_cooperative();
void sim_grid_dependency_wait();
[[noreturn]] void sim_assertion_failed(const char* expression);
// The thread has come to an instruction that the simulator does not have.
[[noreturn]] void sim_not_simulated(const char* what);
void sim_syncwarp(unsigned mask, int line);
uint64_t sim_shuffle(unsigned mask, uint64_t value, SimShuffle mode, unsigned operand,
                     unsigned width, int line);
unsigned sim_ballot(unsigned mask, int predicate, int line);
}
#pragma GCC visibility pop
