// What programs ask of other processes and of graphics: every call is refused, with its reason, so
// that a program that has a way without it takes that way, and another one stops.
#pragma once
#include "arrays.h"
#include "host_queries.h"

namespace gemmlab_sim {
inline cudaError_t no_other_process() {
  return as_error(sim_refuse(cudaErrorNotSupported,
                             "the simulator's memory is not shared with other processes"));
}
inline cudaError_t no_graphics() {
  return as_error(sim_refuse(cudaErrorNotSupported, "the simulator has no graphics interface"));
}
}  // namespace gemmlab_sim

struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};
enum : unsigned { cudaIpcMemLazyEnablePeerAccess = 1, cudaEventInterprocess = 4 };
inline cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return gemmlab_sim::no_other_process();
}
inline cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return gemmlab_sim::no_other_process();
}
inline cudaError_t cudaIpcCloseMemHandle(void*) { return gemmlab_sim::no_other_process(); }
inline cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return gemmlab_sim::no_other_process();
}
inline cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return gemmlab_sim::no_other_process();
}

struct cudaGraphicsResource;
using cudaGraphicsResource_t = cudaGraphicsResource*;
enum : unsigned {
  cudaGraphicsRegisterFlagsNone = 0,
  cudaGraphicsRegisterFlagsReadOnly = 1,
  cudaGraphicsRegisterFlagsWriteDiscard = 2,
  cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
  cudaGraphicsMapFlagsNone = 0,
  cudaGraphicsMapFlagsReadOnly = 1,
  cudaGraphicsMapFlagsWriteDiscard = 2,
};
inline cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource**, unsigned, unsigned) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource**, unsigned, unsigned,
                                               unsigned) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t, unsigned) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsMapResources(int, cudaGraphicsResource_t*, cudaStream_t = nullptr) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsUnmapResources(int, cudaGraphicsResource_t*,
                                              cudaStream_t = nullptr) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsResourceGetMappedPointer(void**, size_t*, cudaGraphicsResource_t) {
  return gemmlab_sim::no_graphics();
}
inline cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t*, cudaGraphicsResource_t,
                                                         unsigned, unsigned) {
  return gemmlab_sim::no_graphics();
}
