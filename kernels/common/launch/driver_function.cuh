// Functions of the driver, asked for at run time, so that nothing links its library.
#pragma once
#include <cuda_runtime.h>

#include "refuse.cuh"

// The driver's function `name` as CUDA 12.0 has it; Function is the type of a pointer to it.
template <class Function>
cudaError_t driver_function(const char* name, Function* function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess && error != cudaErrorSymbolNotFound) return error;
  if (!found)
    return refuse(cudaErrorSymbolNotFound,
                  "this driver has no %s; update it to one of CUDA 12.0 or newer", name);
  *function = reinterpret_cast<Function>(found);
  return cudaSuccess;
}
