// What the current GPU has.
#pragma once
#include <cuda_runtime.h>

inline int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, which, device);
  return value;
}
