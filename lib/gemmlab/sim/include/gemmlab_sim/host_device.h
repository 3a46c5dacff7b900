// The rest of what a program's host code asks: streams, events, the device and its properties, a
// kernel's attributes. A time is a wall-clock time of the simulator, and says nothing of a GPU.
#pragma once
#include <chrono>
#include <cstring>

#include "abi_host.h"
#include "launch.h"

namespace gemmlab_sim {
inline int sm_count() { return device_attribute(cudaDevAttrMultiProcessorCount); }
}  // namespace gemmlab_sim

enum : unsigned { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
#ifdef GEMMLAB_PROGRAM
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = sim_on_device() ? gemmlab_sim::stream_of_device() : new CUstream_st();
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (sim_on_device()) return cudaSuccess;
  if (gemmlab_sim::Capture* capture = gemmlab_sim::capture_of(stream)) capture->last.erase(stream);
  if (gemmlab_sim::is_made(stream)) delete stream;
  return cudaSuccess;
}
#else
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
#endif
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const cudaError_t error = cudaStreamCreate(stream);
#ifdef GEMMLAB_PROGRAM
  if (gemmlab_sim::is_made(*stream)) (*stream)->is_blocking = !(flags & cudaStreamNonBlocking);
#endif
  return error;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return gemmlab_sim::may_wait_for(stream);
}

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
#ifdef GEMMLAB_PROGRAM
  gemmlab_sim::Captured captured;
#endif
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
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
#ifdef GEMMLAB_PROGRAM
  if (const cudaError_t error = gemmlab_sim::may_use(stream)) return error;
  if (gemmlab_sim::captures_event(stream, event->captured)) return cudaSuccess;
#endif
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
enum : unsigned { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1 };
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                            unsigned = cudaEventRecordDefault) {
  return cudaEventRecord(event, stream);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
#ifdef GEMMLAB_PROGRAM
  return gemmlab_sim::may_wait_for(event->captured);
#else
  return event ? cudaSuccess : cudaErrorInvalidResourceHandle;
#endif
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = cudaEventQuery(event)) return error;
  return static_cast<cudaError_t>(sim_device_error());
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
#ifdef GEMMLAB_PROGRAM
  const bool recorded = event->time.time_since_epoch().count() != 0;
  if (const cudaError_t error = gemmlab_sim::may_wait(stream, event->captured, recorded))
    return error;
  gemmlab_sim::wait_in_capture(stream, event->captured);
#endif
  return cudaSuccess;
}

struct cudaUUID_t {
  char bytes[16];
};
// CUDA's fields, and those that CUDA 13 has taken out and older programs ask for; an H200's.
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
#define GEMMLAB_FIELD(type, name, value) type name;
#define GEMMLAB_FIELDS(name, count, ...) int name[count];
  GEMMLAB_DEVICE_PROPERTIES(GEMMLAB_FIELD)
  GEMMLAB_DEVICE_SIZES(GEMMLAB_FIELDS)
#undef GEMMLAB_FIELD
#undef GEMMLAB_FIELDS
  int multiProcessorCount, pciBusID, pciDeviceID, pciDomainID;
  int multiGpuBoardGroupID, deviceNumaId, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int clockRate, memoryClockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled;
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  int known = 0;
  if (const int error = sim_device_attribute(&known, cudaDevAttrWarpSize, device))
    return static_cast<cudaError_t>(error);
  *properties = {};
  cudaDeviceProp& p = *properties;
  std::strcpy(p.name, "gemmlab's simulator of an NVIDIA H200");
  // As much as it has: an H200 has 150,109,880,320 bytes.
  p.totalGlobalMem = (size_t(1) << 31) - (size_t(1) << 20);
#define GEMMLAB_VALUE(type, name, value) p.name = value;
#define GEMMLAB_VALUES(name, count, ...)        \
  {                                             \
    const int values[count] = {__VA_ARGS__};    \
    std::memcpy(p.name, values, sizeof values); \
  }
  GEMMLAB_DEVICE_PROPERTIES(GEMMLAB_VALUE)
  GEMMLAB_DEVICE_SIZES(GEMMLAB_VALUES)
#undef GEMMLAB_VALUE
#undef GEMMLAB_VALUES
  const auto of = gemmlab_sim::device_attribute;
  p.multiProcessorCount = gemmlab_sim::sm_count();
  p.clockRate = of(cudaDevAttrClockRate), p.memoryClockRate = of(cudaDevAttrMemoryClockRate);
  p.deviceOverlap = of(cudaDevAttrGpuOverlap), p.deviceNumaId = -1;
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
// The heap's size is carried out; of what there is no limit of here, it is only a hint.
inline cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit != cudaLimitMallocHeapSize) return cudaSuccess;
  return static_cast<cudaError_t>(sim_heap_bytes(&value, true));
}
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  constexpr size_t VALUES[] = {1024, size_t(1) << 20, 0, 2, 2048, 64, 0};
  *value = VALUES[limit];
  if (limit != cudaLimitMallocHeapSize) return cudaSuccess;
  return static_cast<cudaError_t>(sim_heap_bytes(value, false));
}

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
