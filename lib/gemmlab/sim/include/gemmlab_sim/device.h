// The device that the simulator stands in for, an NVIDIA H200, and CUDA's words for what it
// answers.
#pragma once

// Name, number and text of each error (driver_types.h, cudaGetErrorString).
#define GEMMLAB_CUDA_ERRORS(X)                                                                    \
  X(cudaSuccess, 0, "no error")                                                                   \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                 \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                \
  X(cudaErrorInitializationError, 3, "initialization error")                                      \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                           \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                          \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                  \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                     \
  X(cudaErrorInsufficientDriver, 35,                                                              \
    "CUDA driver version is insufficient for CUDA runtime version")                               \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                 \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                        \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                               \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")         \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                       \
  X(cudaErrorNotReady, 600, "device not ready")                                                   \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                     \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                     \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                       \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                         \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                    \
    "part or all of the requested memory range is already mapped")                                \
  X(cudaErrorHostMemoryNotRegistered, 713,                                                        \
    "pointer does not correspond to a registered memory region")                                  \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                        \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                    \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")             \
  X(cudaErrorNotSupported, 801, "operation not supported")                                        \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")   \
  X(cudaErrorStreamCaptureInvalidated, 901,                                                       \
    "operation failed due to a previous error during capture")                                    \
  X(cudaErrorStreamCaptureMerge, 902,                                                             \
    "operation would result in a merge of separate capture sequences")                            \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began") \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                    \
  X(cudaErrorStreamCaptureIsolation, 905,                                                         \
    "dependency created on uncaptured work in another stream")                                    \
  X(cudaErrorStreamCaptureImplicit, 906,                                                          \
    "operation would make the legacy stream depend on a capturing blocking stream")               \
  X(cudaErrorCapturedEvent, 907,                                                                  \
    "operation not permitted on an event last recorded in a capturing stream")                    \
  X(cudaErrorGraphExecUpdateFailure, 910,                                                         \
    "the graph update was not performed because it included changes which violated "              \
    "constraints specific to instantiated graph update")                                          \
  X(cudaErrorInvalidClusterSize, 912,                                                             \
    "a kernel launch error has occurred due to cluster misconfiguration")                         \
  X(cudaErrorUnknown, 999, "unknown error")

// Name and number of each device attribute, and its value on an H200 (tests/sim/recorded/
// launches.json). Those of a machine, such as the place on its bus, are not among them.
#define GEMMLAB_DEVICE_ATTRIBUTES(X)                           \
  X(cudaDevAttrMaxThreadsPerBlock, 1, 1024)                    \
  X(cudaDevAttrMaxBlockDimX, 2, 1024)                          \
  X(cudaDevAttrMaxBlockDimY, 3, 1024)                          \
  X(cudaDevAttrMaxBlockDimZ, 4, 64)                            \
  X(cudaDevAttrMaxGridDimX, 5, 2147483647)                     \
  X(cudaDevAttrMaxGridDimY, 6, 65535)                          \
  X(cudaDevAttrMaxGridDimZ, 7, 65535)                          \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, 49152)              \
  X(cudaDevAttrTotalConstantMemory, 9, 65536)                  \
  X(cudaDevAttrWarpSize, 10, 32)                               \
  X(cudaDevAttrMaxPitch, 11, 2147483647)                       \
  X(cudaDevAttrMaxRegistersPerBlock, 12, 65536)                \
  X(cudaDevAttrClockRate, 13, 1980000)                         \
  X(cudaDevAttrTextureAlignment, 14, 512)                      \
  X(cudaDevAttrGpuOverlap, 15, 1)                              \
  X(cudaDevAttrMultiProcessorCount, 16, 132)                   \
  X(cudaDevAttrKernelExecTimeout, 17, 0)                       \
  X(cudaDevAttrIntegrated, 18, 0)                              \
  X(cudaDevAttrCanMapHostMemory, 19, 1)                        \
  X(cudaDevAttrComputeMode, 20, 0)                             \
  X(cudaDevAttrMaxTexture1DWidth, 21, 131072)                  \
  X(cudaDevAttrMaxTexture2DWidth, 22, 131072)                  \
  X(cudaDevAttrMaxTexture2DHeight, 23, 65536)                  \
  X(cudaDevAttrMaxTexture3DWidth, 24, 16384)                   \
  X(cudaDevAttrMaxTexture3DHeight, 25, 16384)                  \
  X(cudaDevAttrMaxTexture3DDepth, 26, 16384)                   \
  X(cudaDevAttrMaxTexture2DLayeredWidth, 27, 32768)            \
  X(cudaDevAttrMaxTexture2DLayeredHeight, 28, 32768)           \
  X(cudaDevAttrMaxTexture2DLayeredLayers, 29, 2048)            \
  X(cudaDevAttrSurfaceAlignment, 30, 512)                      \
  X(cudaDevAttrConcurrentKernels, 31, 1)                       \
  X(cudaDevAttrEccEnabled, 32, 1)                              \
  X(cudaDevAttrTccDriver, 35, 0)                               \
  X(cudaDevAttrMemoryClockRate, 36, 3201000)                   \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, 6016)                 \
  X(cudaDevAttrL2CacheSize, 38, 62914560)                      \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, 2048)          \
  X(cudaDevAttrAsyncEngineCount, 40, 3)                        \
  X(cudaDevAttrUnifiedAddressing, 41, 1)                       \
  X(cudaDevAttrMaxTexture1DLayeredWidth, 42, 32768)            \
  X(cudaDevAttrMaxTexture1DLayeredLayers, 43, 2048)            \
  X(cudaDevAttrMaxTexture2DGatherWidth, 45, 32768)             \
  X(cudaDevAttrMaxTexture2DGatherHeight, 46, 32768)            \
  X(cudaDevAttrMaxTexture3DWidthAlt, 47, 8192)                 \
  X(cudaDevAttrMaxTexture3DHeightAlt, 48, 8192)                \
  X(cudaDevAttrMaxTexture3DDepthAlt, 49, 32768)                \
  X(cudaDevAttrTexturePitchAlignment, 51, 32)                  \
  X(cudaDevAttrMaxTextureCubemapWidth, 52, 32768)              \
  X(cudaDevAttrMaxTextureCubemapLayeredWidth, 53, 32768)       \
  X(cudaDevAttrMaxTextureCubemapLayeredLayers, 54, 2046)       \
  X(cudaDevAttrMaxSurface1DWidth, 55, 32768)                   \
  X(cudaDevAttrMaxSurface2DWidth, 56, 131072)                  \
  X(cudaDevAttrMaxSurface2DHeight, 57, 65536)                  \
  X(cudaDevAttrMaxSurface3DWidth, 58, 16384)                   \
  X(cudaDevAttrMaxSurface3DHeight, 59, 16384)                  \
  X(cudaDevAttrMaxSurface3DDepth, 60, 16384)                   \
  X(cudaDevAttrMaxSurface1DLayeredWidth, 61, 32768)            \
  X(cudaDevAttrMaxSurface1DLayeredLayers, 62, 2048)            \
  X(cudaDevAttrMaxSurface2DLayeredWidth, 63, 32768)            \
  X(cudaDevAttrMaxSurface2DLayeredHeight, 64, 32768)           \
  X(cudaDevAttrMaxSurface2DLayeredLayers, 65, 2048)            \
  X(cudaDevAttrMaxSurfaceCubemapWidth, 66, 32768)              \
  X(cudaDevAttrMaxSurfaceCubemapLayeredWidth, 67, 32768)       \
  X(cudaDevAttrMaxSurfaceCubemapLayeredLayers, 68, 2046)       \
  X(cudaDevAttrMaxTexture1DLinearWidth, 69, 268435456)         \
  X(cudaDevAttrMaxTexture2DLinearWidth, 70, 131072)            \
  X(cudaDevAttrMaxTexture2DLinearHeight, 71, 65000)            \
  X(cudaDevAttrMaxTexture2DLinearPitch, 72, 2097120)           \
  X(cudaDevAttrMaxTexture2DMipmappedWidth, 73, 32768)          \
  X(cudaDevAttrMaxTexture2DMipmappedHeight, 74, 32768)         \
  X(cudaDevAttrComputeCapabilityMajor, 75, 9)                  \
  X(cudaDevAttrComputeCapabilityMinor, 76, 0)                  \
  X(cudaDevAttrMaxTexture1DMipmappedWidth, 77, 32768)          \
  X(cudaDevAttrStreamPrioritiesSupported, 78, 1)               \
  X(cudaDevAttrGlobalL1CacheSupported, 79, 1)                  \
  X(cudaDevAttrLocalL1CacheSupported, 80, 1)                   \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, 233472)   \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, 65536)       \
  X(cudaDevAttrManagedMemory, 83, 1)                           \
  X(cudaDevAttrIsMultiGpuBoard, 84, 0)                         \
  X(cudaDevAttrHostNativeAtomicSupported, 86, 0)               \
  X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, 2)        \
  X(cudaDevAttrPageableMemoryAccess, 88, 0)                    \
  X(cudaDevAttrConcurrentManagedAccess, 89, 1)                 \
  X(cudaDevAttrComputePreemptionSupported, 90, 1)              \
  X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, 1)       \
  X(cudaDevAttrCooperativeLaunch, 95, 1)                       \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, 232448)       \
  X(cudaDevAttrCanFlushRemoteWrites, 98, 0)                    \
  X(cudaDevAttrHostRegisterSupported, 99, 1)                   \
  X(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 100, 0) \
  X(cudaDevAttrDirectManagedMemAccessFromHost, 101, 0)         \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, 32)            \
  X(cudaDevAttrMaxPersistingL2CacheSize, 108, 39321600)        \
  X(cudaDevAttrMaxAccessPolicyWindowSize, 109, 134217728)      \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, 1024)        \
  X(cudaDevAttrSparseCudaArraySupported, 112, 1)               \
  X(cudaDevAttrHostRegisterReadOnlySupported, 113, 1)          \
  X(cudaDevAttrTimelineSemaphoreInteropSupported, 114, 1)      \
  X(cudaDevAttrMemoryPoolsSupported, 115, 1)                   \
  X(cudaDevAttrGPUDirectRDMASupported, 116, 1)                 \
  X(cudaDevAttrGPUDirectRDMAFlushWritesOptions, 117, 1)        \
  X(cudaDevAttrGPUDirectRDMAWritesOrdering, 118, 100)          \
  X(cudaDevAttrMemoryPoolSupportedHandleTypes, 119, 9)         \
  X(cudaDevAttrClusterLaunch, 120, 1)                          \
  X(cudaDevAttrDeferredMappingCudaArraySupported, 121, 1)      \
  X(cudaDevAttrIpcEventSupport, 125, 1)                        \
  X(cudaDevAttrMemSyncDomainCount, 126, 4)                     \
  X(cudaDevAttrNumaConfig, 130, 0)                             \
  X(cudaDevAttrMpsEnabled, 133, 0)                             \
  X(cudaDevAttrD3D12CigSupported, 135, 0)                      \
  X(cudaDevAttrVulkanCigSupported, 138, 0)                     \
  X(cudaDevAttrHostNumaMemoryPoolsSupported, 142, 1)           \
  X(cudaDevAttrHostNumaMultinodeIpcSupported, 143, 0)          \
  X(cudaDevAttrHostMemoryPoolsSupported, 144, 1)               \
  X(cudaDevAttrOnlyPartialHostNativeAtomicSupported, 147, 0)

// Fields of cudaDeviceProp: type, name and value on an H200 (tests/sim/recorded/launches.json).
#define GEMMLAB_DEVICE_PROPERTIES(X)                \
  X(size_t, sharedMemPerBlock, 49152)               \
  X(int, regsPerBlock, 65536)                       \
  X(int, warpSize, 32)                              \
  X(size_t, memPitch, 2147483647)                   \
  X(int, maxThreadsPerBlock, 1024)                  \
  X(size_t, totalConstMem, 65536)                   \
  X(int, major, 9)                                  \
  X(int, minor, 0)                                  \
  X(size_t, textureAlignment, 512)                  \
  X(size_t, texturePitchAlignment, 32)              \
  X(int, integrated, 0)                             \
  X(int, canMapHostMemory, 1)                       \
  X(int, maxTexture1D, 131072)                      \
  X(int, maxTexture1DMipmap, 32768)                 \
  X(int, maxTextureCubemap, 32768)                  \
  X(int, maxSurface1D, 32768)                       \
  X(int, maxSurfaceCubemap, 32768)                  \
  X(size_t, surfaceAlignment, 512)                  \
  X(int, concurrentKernels, 1)                      \
  X(int, ECCEnabled, 1)                             \
  X(int, tccDriver, 0)                              \
  X(int, asyncEngineCount, 3)                       \
  X(int, unifiedAddressing, 1)                      \
  X(int, memoryBusWidth, 6016)                      \
  X(int, l2CacheSize, 62914560)                     \
  X(int, persistingL2CacheMaxSize, 39321600)        \
  X(int, maxThreadsPerMultiProcessor, 2048)         \
  X(int, streamPrioritiesSupported, 1)              \
  X(int, globalL1CacheSupported, 1)                 \
  X(int, localL1CacheSupported, 1)                  \
  X(size_t, sharedMemPerMultiprocessor, 233472)     \
  X(int, regsPerMultiprocessor, 65536)              \
  X(int, managedMemory, 1)                          \
  X(int, isMultiGpuBoard, 0)                        \
  X(int, hostNativeAtomicSupported, 0)              \
  X(int, pageableMemoryAccess, 0)                   \
  X(int, concurrentManagedAccess, 1)                \
  X(int, computePreemptionSupported, 1)             \
  X(int, canUseHostPointerForRegisteredMem, 1)      \
  X(int, cooperativeLaunch, 1)                      \
  X(size_t, sharedMemPerBlockOptin, 232448)         \
  X(int, pageableMemoryAccessUsesHostPageTables, 0) \
  X(int, directManagedMemAccessFromHost, 0)         \
  X(int, maxBlocksPerMultiProcessor, 32)            \
  X(int, accessPolicyMaxWindowSize, 134217728)      \
  X(size_t, reservedSharedMemPerBlock, 1024)        \
  X(int, hostRegisterSupported, 1)                  \
  X(int, sparseCudaArraySupported, 1)               \
  X(int, hostRegisterReadOnlySupported, 1)          \
  X(int, timelineSemaphoreInteropSupported, 1)      \
  X(int, memoryPoolsSupported, 1)                   \
  X(int, gpuDirectRDMASupported, 1)                 \
  X(unsigned, gpuDirectRDMAFlushWritesOptions, 1)   \
  X(int, gpuDirectRDMAWritesOrdering, 100)          \
  X(unsigned, memoryPoolSupportedHandleTypes, 9)    \
  X(int, deferredMappingCudaArraySupported, 1)      \
  X(int, ipcEventSupported, 1)                      \
  X(int, clusterLaunch, 1)                          \
  X(int, unifiedFunctionPointers, 1)                \
  X(int, deviceNumaConfig, 0)                       \
  X(int, mpsEnabled, 0)                             \
  X(int, hostNumaMultinodeIpcSupported, 0)
// ... and those of several numbers: name, how many, values.
#define GEMMLAB_DEVICE_SIZES(X)                    \
  X(maxThreadsDim, 3, 1024, 1024, 64)              \
  X(maxGridSize, 3, 2147483647, 65535, 65535)      \
  X(maxTexture2D, 2, 131072, 65536)                \
  X(maxTexture2DMipmap, 2, 32768, 32768)           \
  X(maxTexture2DLinear, 3, 131072, 65000, 2097120) \
  X(maxTexture2DGather, 2, 32768, 32768)           \
  X(maxTexture3D, 3, 16384, 16384, 16384)          \
  X(maxTexture3DAlt, 3, 8192, 8192, 32768)         \
  X(maxTexture1DLayered, 2, 32768, 2048)           \
  X(maxTexture2DLayered, 3, 32768, 32768, 2048)    \
  X(maxTextureCubemapLayered, 2, 32768, 2046)      \
  X(maxSurface2D, 2, 131072, 65536)                \
  X(maxSurface3D, 3, 16384, 16384, 16384)          \
  X(maxSurface1DLayered, 2, 32768, 2048)           \
  X(maxSurface2DLayered, 3, 32768, 32768, 2048)    \
  X(maxSurfaceCubemapLayered, 2, 32768, 2046)

#define GEMMLAB_ENUMERATOR(name, number, what) name = number,
enum cudaError_t : int { GEMMLAB_CUDA_ERRORS(GEMMLAB_ENUMERATOR) };
enum cudaDeviceAttr : int { GEMMLAB_DEVICE_ATTRIBUTES(GEMMLAB_ENUMERATOR) };
#undef GEMMLAB_ENUMERATOR

enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a hint: accepted, and nothing changes
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
