// How a launcher finds the driver's functions without linking the driver's library.
#pragma once
#include "abi.h"
#include "device.h"

enum cudaDriverEntryPointQueryResult : int {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
};
constexpr unsigned long long cudaEnableDefault = 0;

inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                    unsigned /*version*/,
                                                    unsigned long long /*flags*/,
                                                    cudaDriverEntryPointQueryResult* result) {
  *function = sim_driver_function(name);
  if (result)
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *function ? cudaSuccess : cudaErrorSymbolNotFound;
}

// As before CUDA 12.5.
inline cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                           unsigned long long flags,
                                           cudaDriverEntryPointQueryResult* result = nullptr) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}
