// What the probes share: kernels that measure the GPU itself instead of multiplying matrices.
#pragma once
#include "../common/launch/host.cuh"

struct ProbeArgs {
  const void* in;   // read.cuh: what is read
  void* out;        // results, or where a value goes that must not be optimised away
  long long bytes;  // read.cuh: footprint of `in`, a multiple of 16
  int repeats;      // iterations, passes, or microseconds: see each probe
};

inline int sm_count() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}
