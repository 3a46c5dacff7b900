// The device that the simulator stands in for, an NVIDIA H200, and CUDA's words for what it
// answers.
#pragma once

// Name, number and text of each error (driver_types.h, cudaGetErrorString).
#define GEMMLAB_CUDA_ERRORS(X)                                                     \
  X(cudaSuccess, 0, "no error")                                                    \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                  \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                 \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")            \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                 \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                         \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                        \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")      \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                         \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                     \
  X(cudaErrorNotSupported, 801, "operation not supported")                         \
  X(cudaErrorInvalidClusterSize, 912,                                              \
    "a kernel launch error has occurred due to cluster misconfiguration")          \
  X(cudaErrorUnknown, 999, "unknown error")

// Name and number of each device attribute, and its value on an H200.
#define GEMMLAB_DEVICE_ATTRIBUTES(X)                         \
  X(cudaDevAttrMaxThreadsPerBlock, 1, 1024)                  \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, 49152)            \
  X(cudaDevAttrWarpSize, 10, 32)                             \
  X(cudaDevAttrMaxRegistersPerBlock, 12, 65536)              \
  X(cudaDevAttrClockRate, 13, 1980000)                       \
  X(cudaDevAttrMultiProcessorCount, 16, 132)                 \
  X(cudaDevAttrIntegrated, 18, 0)                            \
  X(cudaDevAttrComputeMode, 20, 0)                           \
  X(cudaDevAttrL2CacheSize, 38, 62914560)                    \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, 2048)        \
  X(cudaDevAttrComputeCapabilityMajor, 75, 9)                \
  X(cudaDevAttrComputeCapabilityMinor, 76, 0)                \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, 233472) \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, 65536)     \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, 232448)     \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, 32)          \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, 1024)      \
  X(cudaDevAttrClusterLaunch, 120, 1)

#define GEMMLAB_ENUMERATOR(name, number, what) name = number,
enum cudaError_t : int { GEMMLAB_CUDA_ERRORS(GEMMLAB_ENUMERATOR) };
enum cudaDeviceAttr : int { GEMMLAB_DEVICE_ATTRIBUTES(GEMMLAB_ENUMERATOR) };
#undef GEMMLAB_ENUMERATOR

enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a hint: accepted, and nothing changes
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
