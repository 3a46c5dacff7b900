// The device that the simulator stands in for, an NVIDIA H200, and CUDA's words for what it
// answers.
#pragma once

// Name, number and text of each error (driver_types.h, cudaGetErrorString).
#define GEMMLAB_CUDA_ERRORS(X)                                                        \
  X(cudaSuccess, 0, "no error")                                                       \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                     \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                    \
  X(cudaErrorInitializationError, 3, "initialization error")                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")               \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")         \
  X(cudaErrorInsufficientDriver, 35,                                                  \
    "CUDA driver version is insufficient for CUDA runtime version")                   \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                    \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                     \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                            \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                   \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                           \
  X(cudaErrorNotReady, 600, "device not ready")                                       \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")         \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")    \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")         \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")           \
  X(cudaErrorAssert, 710, "device-side assert triggered")                             \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                            \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                        \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
  X(cudaErrorNotSupported, 801, "operation not supported")                            \
  X(cudaErrorInvalidClusterSize, 912,                                                 \
    "a kernel launch error has occurred due to cluster misconfiguration")             \
  X(cudaErrorUnknown, 999, "unknown error")

// Attributes that were not asked of an H200 yet (`python -m tools.evidence.record_device` does):
// from NVIDIA's documents. One that was asked goes into the list below.
#define GEMMLAB_DEVICE_ATTRIBUTES_BY_DOCUMENT(Y)  \
  Y(cudaDevAttrMaxBlockDimX, 2, 1024)             \
  Y(cudaDevAttrMaxBlockDimY, 3, 1024)             \
  Y(cudaDevAttrMaxGridDimZ, 7, 65535)             \
  Y(cudaDevAttrGpuOverlap, 15, 1)                 \
  Y(cudaDevAttrCanMapHostMemory, 19, 1)           \
  Y(cudaDevAttrConcurrentKernels, 31, 1)          \
  Y(cudaDevAttrMemoryClockRate, 36, 3201000)      \
  Y(cudaDevAttrGlobalMemoryBusWidth, 37, 6144)    \
  Y(cudaDevAttrAsyncEngineCount, 40, 3)           \
  Y(cudaDevAttrUnifiedAddressing, 41, 1)          \
  Y(cudaDevAttrStreamPrioritiesSupported, 78, 1)  \
  Y(cudaDevAttrManagedMemory, 83, 1)              \
  Y(cudaDevAttrHostNativeAtomicSupported, 86, 0)  \
  Y(cudaDevAttrPageableMemoryAccess, 88, 0)       \
  Y(cudaDevAttrConcurrentManagedAccess, 89, 1)    \
  Y(cudaDevAttrComputePreemptionSupported, 90, 1) \
  Y(cudaDevAttrMemoryPoolsSupported, 115, 1)

// Name and number of each device attribute, and its value on an H200.
#define GEMMLAB_DEVICE_ATTRIBUTES(X)                         \
  X(cudaDevAttrMaxThreadsPerBlock, 1, 1024)                  \
  X(cudaDevAttrMaxBlockDimZ, 4, 64)                          \
  X(cudaDevAttrMaxGridDimX, 5, 2147483647)                   \
  X(cudaDevAttrMaxGridDimY, 6, 65535)                        \
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
  X(cudaDevAttrCooperativeLaunch, 95, 1)                     \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, 232448)     \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, 32)          \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, 1024)      \
  X(cudaDevAttrClusterLaunch, 120, 1)                        \
  GEMMLAB_DEVICE_ATTRIBUTES_BY_DOCUMENT(X)

#define GEMMLAB_ENUMERATOR(name, number, what) name = number,
enum cudaError_t : int { GEMMLAB_CUDA_ERRORS(GEMMLAB_ENUMERATOR) };
enum cudaDeviceAttr : int { GEMMLAB_DEVICE_ATTRIBUTES(GEMMLAB_ENUMERATOR) };
#undef GEMMLAB_ENUMERATOR

enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a hint: accepted, and nothing changes
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
