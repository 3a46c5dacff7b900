// The host's side of a launch: what a kernel's launcher calls of the CUDA runtime.
#pragma once
#include <tuple>

#include "abi.h"
#include "device.h"
#include "thread.h"

struct CUstream_st;
using cudaStream_t = CUstream_st*;

enum cudaGraphNodeType : int {
  cudaGraphNodeTypeKernel = 0,
  cudaGraphNodeTypeMemcpy = 1,
  cudaGraphNodeTypeMemset = 2,
  cudaGraphNodeTypeHost = 3,
  cudaGraphNodeTypeGraph = 4,
  cudaGraphNodeTypeEmpty = 5,
  cudaGraphNodeTypeWaitEvent = 6,
  cudaGraphNodeTypeEventRecord = 7,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree = 11,
  cudaGraphNodeTypeConditional = 13,
};

// Of CUDA's launch attributes those that the simulator carries out.
enum cudaLaunchAttributeID : int {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  // Grids follow each other here all the same, but a use of what the first one writes is found
  // where the second has not waited.
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};

union cudaLaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int cooperative;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace gemmlab_sim {

// While one lives, the host may use device memory, as CUDA's own functions and libraries do.
struct OpenMemory {
  OpenMemory() { sim_open_memory(1); }
  ~OpenMemory() { sim_open_memory(0); }
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

// Of the device that the simulator stands in for; `attribute` is one that it knows.
inline int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  sim_device_attribute(&value, attribute, 0);
  return value;
}

// A launch without a cluster, of which nothing else is asked.
inline SimLaunch launch_of(const void* kernel, dim3 grid, dim3 block, size_t bytes,
                           const char* file = nullptr, int line = 0) {
  const SimIndex blocks = {grid.x, grid.y, grid.z}, threads = {block.x, block.y, block.z};
  return {blocks, threads, {1, 1, 1}, bytes, kernel, 0, nullptr, file, line};
}

// A kernel with the arguments of one launch. A thread of the grid calls it with copies of them.
template <class... Params>
struct Call {
  void (*kernel)(Params...);
  std::tuple<Params...> arguments;
  static void run(void* self) {
    const Call& call = *static_cast<const Call*>(self);
    std::apply(call.kernel, call.arguments);
  }
};

// What is asked of a stream happens at once: streams order nothing. Those of a program may capture
// it instead (capture.h).
#ifdef GEMMLAB_PROGRAM
template <class C>
cudaError_t launch_in(cudaStream_t stream, const SimLaunch& launch, C& call);
template <class Task>
cudaError_t in_stream(cudaStream_t stream, cudaGraphNodeType type, Task task);
// What a capture forbids (capture_rules.h).
inline cudaError_t may_wait_for_device();
inline cudaError_t may_wait_for(cudaStream_t stream);
inline cudaError_t may_use_default_stream();
inline cudaError_t may_allocate();
#else
inline cudaError_t may_wait_for_device() { return cudaSuccess; }
inline cudaError_t may_wait_for(cudaStream_t) { return cudaSuccess; }
inline cudaError_t may_use_default_stream() { return cudaSuccess; }
inline cudaError_t may_allocate() { return cudaSuccess; }
template <class C>
cudaError_t launch_in(cudaStream_t, const SimLaunch& launch, C& call) {
  return static_cast<cudaError_t>(sim_launch(&launch, C::run, &call));
}
template <class Task>
cudaError_t in_stream(cudaStream_t, cudaGraphNodeType, Task task) {
  return task();
}
#endif

inline SimIndex cluster_of(const cudaLaunchConfig_t& config) {
  SimIndex cluster = {1, 1, 1};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& size = config.attrs[i].val.clusterDim;
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension)
      cluster = {size.x, size.y, size.z};
  }
  return cluster;
}

inline bool is_dependent(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
      return config.attrs[i].val.programmaticStreamSerializationAllowed;
  return false;
}

inline bool is_cooperative(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeCooperative)
      return config.attrs[i].val.cooperative;
  return false;
}

}  // namespace gemmlab_sim

// Runs the whole grid before it returns, unless the stream captures.
template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Args&&... args) {
  gemmlab_sim::Call<Params...> call{kernel, {static_cast<Args&&>(args)...}};
  SimLaunch launch = gemmlab_sim::launch_of(reinterpret_cast<const void*>(kernel), config->gridDim,
                                            config->blockDim, config->dynamicSmemBytes);
  launch.cluster = gemmlab_sim::cluster_of(*config);
  launch.dependent = gemmlab_sim::is_dependent(*config);
  launch.cooperative = gemmlab_sim::is_cooperative(*config);
  return gemmlab_sim::launch_in(config->stream, launch, call);
}

// Stays in force for all later launches of the kernel.
template <class... Params>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Params...), cudaFuncAttribute attribute,
                                 int value) {
  const void* address = reinterpret_cast<const void*>(kernel);
  return static_cast<cudaError_t>(sim_set_attribute(address, attribute, value));
}

inline cudaError_t cudaGetLastError() { return static_cast<cudaError_t>(sim_last_error(1)); }
inline cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(sim_last_error(0)); }
inline const char* cudaGetErrorName(cudaError_t error) { return sim_error_name(error); }
inline const char* cudaGetErrorString(cudaError_t error) { return sim_error_string(error); }

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

// A __device__ or __constant__ variable is one of this machine's, here.
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return cudaErrorInvalidValue;
  std::memcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return cudaErrorInvalidValue;
  std::memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemcpy, [=, to = &symbol] {
    return cudaMemcpyToSymbol(*to, from, bytes, offset, kind);
  });
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = &symbol;
  return cudaSuccess;
}

// Memory of a kernel's arguments is this machine's own.
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemset, [=] {
    unsigned char* byte = static_cast<unsigned char*>(memory);
    const gemmlab_sim::OpenMemory open;
    for (size_t i = 0; i < bytes; ++i) byte[i] = static_cast<unsigned char>(value);
    return cudaSuccess;
  });
}

inline cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = gemmlab_sim::may_wait_for_device()) return error;
  return static_cast<cudaError_t>(sim_device_error());
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t error = gemmlab_sim::may_wait_for(stream)) return error;
  return static_cast<cudaError_t>(sim_device_error());
}

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return static_cast<cudaError_t>(sim_device_attribute(value, attribute, device));
}

#ifdef GEMMLAB_PROGRAM
#include "capture_rules.h"
#endif
