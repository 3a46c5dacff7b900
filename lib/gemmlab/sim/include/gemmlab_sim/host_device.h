// The rest of what a program's host code asks: streams, events, the device and its properties, a
// kernel's attributes. A time is a wall-clock time of the simulator, and says nothing of a GPU.
#pragma once
#include <chrono>
#include <cstring>

#include "launch.h"

namespace gemmlab_sim {
inline int sm_count() { return device_attribute(cudaDevAttrMultiProcessorCount); }
}  // namespace gemmlab_sim

enum : unsigned { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};
using cudaEvent_t = CUevent_st*;
enum : unsigned {
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
};
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned = cudaEventDefault) {
  *event = new CUevent_st();
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}

struct cudaUUID_t {
  char bytes[16];
};
// Of CUDA's fields those that programs ask for; an H200's.
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, textureAlignment;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock, memPitch;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock;
  int maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int concurrentKernels, asyncEngineCount, canMapHostMemory, integrated, unifiedAddressing;
  int managedMemory, concurrentManagedAccess, cooperativeLaunch, clusterLaunch, deviceOverlap;
  int accessPolicyMaxWindowSize, isMultiGpuBoard, pageableMemoryAccess, tccDriver;
  int hostNativeAtomicSupported, computePreemptionSupported, streamPrioritiesSupported;
  cudaUUID_t uuid;
  int computeMode, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, kernelExecTimeoutEnabled;
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  int known = 0;
  if (const int error = sim_device_attribute(&known, cudaDevAttrWarpSize, device))
    return static_cast<cudaError_t>(error);
  *properties = {};
  cudaDeviceProp& p = *properties;
  std::strcpy(p.name, "gemmlab's simulator of an NVIDIA H200");
  p.totalGlobalMem = (size_t(1) << 31) - (size_t(1) << 20);
  const auto of = gemmlab_sim::device_attribute;
  p.sharedMemPerBlock = size_t(of(cudaDevAttrMaxSharedMemoryPerBlock));
  p.sharedMemPerBlockOptin = size_t(of(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p.sharedMemPerMultiprocessor = size_t(of(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p.reservedSharedMemPerBlock = size_t(of(cudaDevAttrReservedSharedMemoryPerBlock));
  p.totalConstMem = 65536, p.textureAlignment = 512, p.memPitch = 2147483647;
  p.regsPerBlock = of(cudaDevAttrMaxRegistersPerBlock);
  p.regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.warpSize = known, p.maxThreadsPerBlock = of(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = of(cudaDevAttrMaxBlockDimX), p.maxGridSize[0] = of(cudaDevAttrMaxGridDimX);
  p.maxThreadsDim[1] = of(cudaDevAttrMaxBlockDimY), p.maxGridSize[1] = of(cudaDevAttrMaxGridDimY);
  p.maxThreadsDim[2] = of(cudaDevAttrMaxBlockDimZ), p.maxGridSize[2] = of(cudaDevAttrMaxGridDimZ);
  p.major = of(cudaDevAttrComputeCapabilityMajor);
  p.minor = of(cudaDevAttrComputeCapabilityMinor);
  p.multiProcessorCount = gemmlab_sim::sm_count();
  p.maxThreadsPerMultiProcessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.maxBlocksPerMultiProcessor = of(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.clockRate = of(cudaDevAttrClockRate), p.memoryClockRate = of(cudaDevAttrMemoryClockRate);
  p.memoryBusWidth = of(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = of(cudaDevAttrL2CacheSize), p.persistingL2CacheMaxSize = 39321600;
  p.concurrentKernels = p.asyncEngineCount = p.canMapHostMemory = p.unifiedAddressing = 1;
  p.managedMemory = p.concurrentManagedAccess = p.cooperativeLaunch = p.clusterLaunch = 1;
  p.deviceOverlap = 1;
  return cudaSuccess;
}

enum cudaComputeMode : int {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess,
};

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device == 0) return cudaSuccess;
  int none;
  return static_cast<cudaError_t>(sim_device_attribute(&none, cudaDevAttrWarpSize, device));
}
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

enum cudaFuncCache : int {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual,
};
enum cudaSharedCarveout : int {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0,
};
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

enum cudaLimit : int {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize,
};
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }

// A full SM's worth of blocks of the largest block, as on a GPU for a kernel of few registers.
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel, size_t = 0,
                                               int most = 0) {
  using gemmlab_sim::device_attribute;
  const int largest = device_attribute(cudaDevAttrMaxThreadsPerBlock);
  *block = most > 0 && most < largest ? most : largest;
  *grid =
      gemmlab_sim::sm_count() * (device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / *block);
  return cudaSuccess;
}
