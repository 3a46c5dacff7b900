// Which launches a GPU refuses, by which of CUDA's errors, and why: the limits of an H200.
#pragma once
#include "../../include/gemmlab_sim/abi.h"
#include "../../include/gemmlab_sim/device.h"
#include "module.h"
#include "memory/types.h"

namespace sim {

// The error that a real launch would return; cudaSuccess if it would run. The reason, with both
// numbers and what to do, is then in last_error().
cudaError_t check_launch(const SimLaunch& launch, const Module& module);

// cudaFuncSetAttribute. What is set stays for later launches.
cudaError_t set_attribute(const Module& module, const void* kernel, int attribute, int value);

// Does not wrap around: CUDA's coordinates have 32 bits, and y and z are checked first.
inline u64 volume(SimIndex size) { return u64(size.x) * size.y * size.z; }

// The SMs that a launcher is told of: fewer than an H200 has make a persistent kernel's blocks take
// several tiles of a small product.
extern int multiprocessors;

// Remembers an error until cudaGetLastError asks for it, and returns it.
cudaError_t refuse(cudaError_t error, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

struct LastError {
  cudaError_t error = cudaSuccess;
  char reason[512] = "";
};
extern LastError last_error;
// Of a kernel of a program that was stopped by an assert(): stays until the program ends.
extern cudaError_t device_error;

}  // namespace sim
