// cudaMalloc, cudaMemcpy, cudaMemset and their relatives. All of it happens in order, at once, or
// is captured by its stream.
#pragma once
#include <type_traits>

#include "abi_host.h"
#include "launch.h"

namespace gemmlab_sim {

// In the order of a stream.
template <class T>
cudaError_t allocate_now(T** memory, size_t bytes, bool host_visible, const char* file, int line) {
  if (!memory) return cudaErrorInvalidValue;
  *memory = static_cast<T*>(sim_allocate(bytes, host_visible, file, line));
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class T>
cudaError_t allocate(T** memory, size_t bytes, bool host_visible, const char* file, int line) {
  if (const cudaError_t error = may_allocate()) return error;
  return allocate_now(memory, bytes, host_visible, file, line);
}

inline cudaError_t as_error(int error) { return static_cast<cudaError_t>(error); }

// A program's graphs have memory of their own, too (graph_memory.h).
#ifdef GEMMLAB_PROGRAM
inline cudaError_t release(void* memory);
template <class T>
cudaError_t allocate_in(cudaStream_t stream, T** memory, size_t bytes, const char* file, int line);
#else
inline cudaError_t release(void* memory) { return as_error(sim_free(memory)); }
template <class T>
cudaError_t allocate_in(cudaStream_t, T** memory, size_t bytes, const char* file, int line) {
  return allocate(memory, bytes, false, file, line);
}
#endif

}  // namespace gemmlab_sim

// Where the call stands, for what is said about the buffer.
#define GEMMLAB_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

template <class T>
cudaError_t cudaMalloc(T** memory, size_t bytes, GEMMLAB_HERE) {
  return gemmlab_sim::allocate(memory, bytes, false, file, line);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaStream_t stream, GEMMLAB_HERE) {
  return gemmlab_sim::allocate_in(stream, memory, bytes, file, line);
}
enum : unsigned { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
template <class T>
cudaError_t cudaMallocManaged(T** memory, size_t bytes, unsigned = cudaMemAttachGlobal,
                              GEMMLAB_HERE) {
  return gemmlab_sim::allocate(memory, bytes, true, file, line);
}
// Pinned memory, which kernels may use through its address.
enum : unsigned {
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2,
  cudaHostRegisterIoMemory = 4,
  cudaHostRegisterReadOnly = 8,
};
template <class T>
cudaError_t cudaMallocHost(T** memory, size_t bytes, unsigned = 0, GEMMLAB_HERE) {
  return gemmlab_sim::allocate(memory, bytes, true, file, line);
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, size_t bytes, unsigned, GEMMLAB_HERE) {
  return gemmlab_sim::allocate(memory, bytes, true, file, line);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
// A row begins at a multiple of 512 bytes.
template <class T>
cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height, GEMMLAB_HERE) {
  *pitch = (width + 511) / 512 * 512;
  return gemmlab_sim::allocate(memory, *pitch * height, false, file, line);
}
#undef GEMMLAB_HERE

inline cudaError_t cudaFree(void* memory) {
  if (const cudaError_t error = gemmlab_sim::may_allocate()) return error;
  return gemmlab_sim::release(memory);
}
inline cudaError_t cudaFreeHost(void* memory) { return gemmlab_sim::as_error(sim_free(memory)); }
inline cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemFree,
                                [=] { return gemmlab_sim::release(memory); });
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (const cudaError_t error = gemmlab_sim::may_use_default_stream()) return error;
  return gemmlab_sim::as_error(sim_copy(to, from, bytes));
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemcpy,
                                [=] { return gemmlab_sim::as_error(sim_copy(to, from, bytes)); });
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind) {
  return gemmlab_sim::as_error(sim_copy_rows(to, to_pitch, from, from_pitch, width, height));
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemcpy, [=] {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
  });
}
inline cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  if (const cudaError_t error = gemmlab_sim::may_use_default_stream()) return error;
  return gemmlab_sim::as_error(sim_fill(memory, value, bytes));
}
inline cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width,
                                size_t height) {
  for (size_t row = 0; row < height; ++row)
    if (const int error = sim_fill(static_cast<char*>(memory) + row * pitch, value, width))
      return gemmlab_sim::as_error(error);
  return cudaSuccess;
}
inline cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width,
                                     size_t height, cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemset,
                                [=] { return cudaMemset2D(memory, pitch, value, width, height); });
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* all) {
  sim_memory_info(free, all);
  return cudaSuccess;
}

enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  void* const address = const_cast<void*>(memory);
  constexpr cudaMemoryType TYPES[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeDevice,
                                      cudaMemoryTypeManaged};
  const int kind = sim_memory_kind(memory);
  *attributes = {TYPES[kind], 0, kind ? address : nullptr, kind == 1 ? nullptr : address};
  return cudaSuccess;
}
