// CUDA arrays: device memory of which textures and surfaces read. An array lies here row after
// row, as copies to and from it see it; on a GPU its order is not known to programs.
#pragma once
#include "host_memory.h"

enum cudaChannelFormatKind : int {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
};
// Bits of each channel.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

namespace gemmlab_sim {
template <class T>
struct Channels {
  using type = T;
  static constexpr int count = 1;
};
template <class T>
struct Channels<Vector2<T>> {
  using type = T;
  static constexpr int count = 2;
};
template <class T>
struct Channels<Vector4<T>> {
  using type = T;
  static constexpr int count = 4;
};
inline int bytes_of(const cudaChannelFormatDesc& format) {
  return (format.x + format.y + format.z + format.w) / 8;
}
}  // namespace gemmlab_sim

// Whatever is neither an integer nor a pair or four of them is taken for floating point.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channel = typename gemmlab_sim::Channels<T>::type;
  constexpr int bits = 8 * sizeof(Channel), count = gemmlab_sim::Channels<T>::count;
  constexpr cudaChannelFormatKind kind = !std::is_integral_v<Channel> ? cudaChannelFormatKindFloat
                                         : std::is_signed_v<Channel>
                                             ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindUnsigned;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t x, size_t y) {
  return {p, pitch, x, y};
}

enum : unsigned {
  cudaArrayDefault = 0,
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8,
};
// Sizes are elements, as programs give them: a height or a depth may be 0.
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags;
  unsigned char* data;

  size_t pitch() const { return extent.width * size_t(gemmlab_sim::bytes_of(format)); }
  size_t rows() const { return extent.height ? extent.height : 1; }
  size_t slice() const { return pitch() * rows(); }
  size_t bytes() const { return slice() * (extent.depth ? extent.depth : 1); }
};
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;

inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned flags = 0,
                                     const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  if (!array || !format || !extent.width) return cudaErrorInvalidValue;
  cudaArray made = {*format, extent, flags, nullptr};
  made.data = static_cast<unsigned char*>(sim_allocate(made.bytes(), false, file, line));
  if (!made.data) return cudaErrorMemoryAllocation;
  *array = new cudaArray(made);
  return cudaSuccess;
}
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                   size_t width, size_t height = 0, unsigned flags = 0,
                                   const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags, file, line);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  const cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  *format = array->format;
  return cudaSuccess;
}
inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                    unsigned* flags, cudaArray_t array) {
  if (format) *format = array->format;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
// A row begins at a multiple of 512 bytes. The width is in bytes.
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* made, cudaExtent extent,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const size_t pitch = (extent.width + 511) / 512 * 512;
  void* const memory = sim_allocate(pitch * extent.height * extent.depth, false, file, line);
  *made = {memory, pitch, extent.width, extent.height};
  return memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

// Copies: offsets and widths of an array are bytes along its rows.
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                       size_t pitch, size_t width, size_t height, cudaMemcpyKind) {
  if (x + width > to->pitch() || y + height > to->rows()) return cudaErrorInvalidValue;
  unsigned char* const first = to->data + y * to->pitch() + x;
  return gemmlab_sim::as_error(sim_copy_rows(first, to->pitch(), from, pitch, width, height));
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                            size_t pitch, size_t width, size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemcpy, [=] {
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
  });
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                         size_t y, size_t width, size_t height, cudaMemcpyKind) {
  if (x + width > from->pitch() || y + height > from->rows()) return cudaErrorInvalidValue;
  const unsigned char* const first = from->data + y * from->pitch() + x;
  return gemmlab_sim::as_error(sim_copy_rows(to, pitch, first, from->pitch(), width, height));
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t bytes, cudaMemcpyKind) {
  const size_t start = y * to->pitch() + x;
  if (start + bytes > to->bytes()) return cudaErrorInvalidValue;
  return gemmlab_sim::as_error(sim_copy(to->data + start, from, bytes));
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                       size_t bytes, cudaMemcpyKind) {
  const size_t start = y * from->pitch() + x;
  if (start + bytes > from->bytes()) return cudaErrorInvalidValue;
  return gemmlab_sim::as_error(sim_copy(to, from->data + start, bytes));
}
inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                            cudaArray_const_t from, size_t x, size_t y,
                                            size_t width, size_t height,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
  if (x + width > from->pitch() || y + height > from->rows()) return cudaErrorInvalidValue;
  const unsigned char* const first = from->data + y * from->pitch() + x;
  return cudaMemcpy2DToArray(to, to_x, to_y, first, from->pitch(), width, height, kind);
}

struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

namespace gemmlab_sim {
// One side of a 3-D copy: its first byte, and from row to row and slice to slice.
struct Side {
  unsigned char* first;
  size_t pitch, slice;
};
inline Side side_of(cudaArray_t array, const cudaPos& at, const cudaPitchedPtr& plain) {
  unsigned char* const base = array ? array->data : static_cast<unsigned char*>(plain.ptr);
  const size_t pitch = array ? array->pitch() : plain.pitch;
  const size_t slice = array ? array->slice() : plain.pitch * plain.ysize;
  const size_t element = array ? size_t(bytes_of(array->format)) : 1;
  return {base + at.z * slice + at.y * pitch + at.x * element, pitch, slice};
}
}  // namespace gemmlab_sim

// The extent's width is elements if an array takes part, else bytes.
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  using namespace gemmlab_sim;
  const Side from = side_of(copy->srcArray, copy->srcPos, copy->srcPtr);
  const Side to = side_of(copy->dstArray, copy->dstPos, copy->dstPtr);
  const cudaArray_t array = copy->srcArray ? copy->srcArray : copy->dstArray;
  const size_t width = copy->extent.width * (array ? size_t(bytes_of(array->format)) : 1);
  for (size_t z = 0; z < copy->extent.depth; ++z)
    if (const int error =
            sim_copy_rows(to.first + z * to.slice, to.pitch, from.first + z * from.slice,
                          from.pitch, width, copy->extent.height))
      return as_error(error);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr) {
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeMemcpy,
                                [copy = *copy] { return cudaMemcpy3D(&copy); });
}
