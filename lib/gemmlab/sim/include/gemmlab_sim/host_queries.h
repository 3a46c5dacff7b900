// Host calls of programs beyond memory, streams and events: what a kernel takes of an SM, launches
// by an array of pointers, other devices (there are none), pools of memory, callbacks.
#pragma once
#include <algorithm>

#include "host_device.h"
#include "host_memory.h"

#define CUDART_VERSION 13000
#define CUDART_CB
using cudaError = cudaError_t;

enum : unsigned {
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceBlockingSync = 4,
  cudaDeviceMapHost = 8,
  cudaDeviceLmemResizeToMax = 16,
  cudaOccupancyDefault = 0,
};

// Blocks of one SM, by threads and shared memory. Registers are not in it: only nvcc knows them.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int threads,
                                                          size_t bytes) {
  if (threads < 1) return cudaErrorInvalidValue;
  const auto of = [](cudaDeviceAttr attribute) {
    return size_t(gemmlab_sim::device_attribute(attribute));
  };
  const size_t by_threads =
      of(cudaDevAttrMaxThreadsPerMultiProcessor) / size_t((threads + 31) / 32 * 32);
  const size_t by_memory = of(cudaDevAttrMaxSharedMemoryPerMultiprocessor) /
                           (bytes + of(cudaDevAttrReservedSharedMemoryPerBlock));
  *blocks = int(std::min({by_threads, by_memory, of(cudaDevAttrMaxBlocksPerMultiprocessor)}));
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel kernel,
                                                                   int threads, size_t bytes,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, bytes);
}

// What only nvcc knows (registers, local and static shared memory) is 0.
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
  using gemmlab_sim::device_attribute;
  *attributes = {0,  0,  0, device_attribute(cudaDevAttrMaxThreadsPerBlock),      0,
                 90, 90, 0, device_attribute(cudaDevAttrMaxSharedMemoryPerBlock), -1};
  return cudaSuccess;
}

namespace gemmlab_sim {
template <class... Params, size_t... At>
Call<Params...> call_of(void (*kernel)(Params...), void** arguments, std::index_sequence<At...>) {
  return {kernel, {*static_cast<std::remove_reference_t<Params>*>(arguments[At])...}};
}
}  // namespace gemmlab_sim

// The kernel's arguments by their addresses. A cast of the kernel to void* is taken out of such a
// call beforehand (program/edits.py): the types of its parameters would be lost.
template <class... Params>
cudaError_t cudaLaunchKernel(void (*kernel)(Params...), dim3 grid, dim3 block, void** arguments,
                             size_t bytes = 0, cudaStream_t stream = nullptr,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                             bool cooperative = false) {
  auto call = gemmlab_sim::call_of(kernel, arguments, std::index_sequence_for<Params...>());
  SimLaunch launch =
      gemmlab_sim::launch_of(reinterpret_cast<const void*>(kernel), grid, block, bytes, file, line);
  launch.cooperative = cooperative;
  return gemmlab_sim::launch_in(stream, launch, call);
}
template <class... Params>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Params...), dim3 grid, dim3 block,
                                        void** arguments, size_t bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, int(block.x * block.y * block.z),
                                                bytes);
  if (1ull * grid.x * grid.y * grid.z > 1ull * blocks * gemmlab_sim::sm_count())
    return gemmlab_sim::as_error(
        sim_refuse(cudaErrorCooperativeLaunchTooLarge,
                   "the blocks of a cooperative launch do not fit on the device at once"));
  return cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream, file, line, true);
}

// The host's functions run at once, as all else does, or with their graph.
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);
using cudaHostFn_t = void (*)(void*);
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void* data,
                                         unsigned) {
  call(stream, cudaSuccess, data);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* data) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeHost, [=] {
    call(data);
    return cudaSuccess;
  });
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0,
                                            unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}

// There is one device.
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaErrorPeerAccessNotEnabled; }
enum cudaDeviceP2PAttr : int {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4,
};
inline cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return cudaErrorInvalidDevice;
}
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                       cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
inline cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int) {
  std::snprintf(text, size_t(length), "0000:00:00.0");
  return cudaSuccess;
}

// Where memory lies is a hint.
enum cudaMemoryAdvise : int {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy,
};
enum cudaMemLocationType : int {
  cudaMemLocationTypeInvalid,
  cudaMemLocationTypeDevice,
  cudaMemLocationTypeHost,
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                        cudaStream_t = nullptr) {
  return cudaSuccess;
}
// Accesses of kernels to such memory are not counted, and not compared with each other.
inline cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  return gemmlab_sim::as_error(sim_register(memory, bytes));
}
inline cudaError_t cudaHostUnregister(void* memory) {
  return gemmlab_sim::as_error(sim_unregister(memory));
}

// What of the L2 cache a stream may keep is a hint, too.
enum cudaAccessProperty : int {
  cudaAccessPropertyNormal,
  cudaAccessPropertyStreaming,
  cudaAccessPropertyPersisting,
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  int syncPolicy, priority;
};
enum cudaStreamAttrID : int {
  cudaStreamAttributeAccessPolicyWindow = 1,
  cudaStreamAttributeSynchronizationPolicy = 3,
};
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                          const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// Pools are all the one memory; what a program sets of them it can read again.
struct CUmemPoolHandle_st {
  uint64_t values[9];
};
using cudaMemPool_t = CUmemPoolHandle_st*;
enum cudaMemPoolAttr : int {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8,
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static CUmemPoolHandle_st only;
  *pool = &only;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                           void* value) {
  std::memcpy(&pool->values[attribute], value, attribute < 4 ? sizeof(int) : sizeof(uint64_t));
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                           void* value) {
  std::memcpy(value, &pool->values[attribute], attribute < 4 ? sizeof(int) : sizeof(uint64_t));
  return cudaSuccess;
}
enum cudaMemAccessFlags : int {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc* who, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (who[i].location.id != 0) return cudaErrorInvalidDevice;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** memory, size_t bytes, cudaMemPool_t, cudaStream_t stream,
                                    const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
  return gemmlab_sim::allocate_in(stream, memory, bytes, file, line);
}
