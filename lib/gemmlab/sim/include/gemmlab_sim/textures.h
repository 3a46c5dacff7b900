// Textures and surfaces, sampled as the CUDA C++ Programming Guide's appendix on texture fetching
// says: weights of linear filtering have 8 bits of fraction. Reads by a texture are neither
// counted nor looked at for races: the hardware reads them through a path of their own.
#pragma once
#include <cmath>

#include "arrays.h"
#include "half_bits.h"

enum cudaResourceType : int {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,  // refused
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3,
};
struct cudaMipmappedArray;
using cudaMipmappedArray_t = cudaMipmappedArray*;
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
  unsigned flags;
};
struct cudaResourceViewDesc;
enum cudaTextureAddressMode : int {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode : int { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode : int { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
enum cudaSurfaceBoundaryMode : int {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2,
};

namespace gemmlab_sim {

#define GEMMLAB_UNCOUNTED __attribute__((noinline, no_sanitize_thread))

// Four channels of an element.
struct Texel {
  double c[4];
};

struct Texture {
  unsigned char* data;
  cudaChannelFormatDesc format;
  int size[3];  // 1 where there is no such dimension
  size_t pitch, slice;
  bool is_layered;
  cudaTextureDesc how;

  GEMMLAB_UNCOUNTED static double channel(const unsigned char* at, int bits,
                                          cudaChannelFormatKind kind) {
    if (kind == cudaChannelFormatKindFloat && bits == 16) {
      uint16_t half;
      std::memcpy(&half, at, 2);
      return HalfFormat::widen(half);
    }
    uint32_t raw = 0;
    std::memcpy(&raw, at, size_t(bits / 8));
    if (kind == cudaChannelFormatKindFloat) return bits_as<float>(raw);
    if (kind == cudaChannelFormatKindUnsigned) return raw;
    return int32_t(raw << (32 - bits)) >> (32 - bits);
  }

  // Where an index lies; -1: outside of a border. `wraps`: coordinates are normalized.
  GEMMLAB_UNCOUNTED int place(int index, int dimension) const {
    const int n = size[dimension];
    if (index >= 0 && index < n) return index;
    switch (how.addressMode[dimension]) {
      case cudaAddressModeBorder:
        return -1;
      case cudaAddressModeWrap:
        if (how.normalizedCoords) return ((index % n) + n) % n;
        break;
      case cudaAddressModeMirror:
        if (how.normalizedCoords) {
          const int at = ((index % (2 * n)) + 2 * n) % (2 * n);
          return at < n ? at : 2 * n - 1 - at;
        }
        break;
      default:
        break;
    }
    return index < 0 ? 0 : n - 1;
  }

  GEMMLAB_UNCOUNTED Texel element(int x, int y, int z) const {
    Texel found = {};
    x = place(x, 0), y = place(y, 1), z = is_layered ? z : place(z, 2);
    if (x < 0 || y < 0 || z < 0) {
      for (int i = 0; i < 4; ++i) found.c[i] = how.borderColor[i];
      return found;
    }
    const int bits[4] = {format.x, format.y, format.z, format.w};
    const unsigned char* at =
        data + size_t(z) * slice + size_t(y) * pitch + size_t(x) * size_t(bytes_of(format));
    const bool is_fraction =
        how.readMode == cudaReadModeNormalizedFloat && format.f != cudaChannelFormatKindFloat;
    for (int i = 0; i < 4 && bits[i]; at += bits[i++] / 8) {
      found.c[i] = channel(at, bits[i], format.f);
      if (!is_fraction) continue;
      const bool is_signed = format.f == cudaChannelFormatKindSigned;
      found.c[i] /= double((1ll << (bits[i] - is_signed)) - 1);
      if (found.c[i] < -1) found.c[i] = -1;
    }
    return found;
  }

  // The first of the two elements along a dimension, and the weight of the second one.
  GEMMLAB_UNCOUNTED int first(float coordinate, int dimension, double* weight) const {
    const double at = how.normalizedCoords ? double(coordinate) * size[dimension] : coordinate;
    *weight = 0;
    if (how.filterMode == cudaFilterModePoint) return int(std::floor(at));
    const double whole = std::floor(at - 0.5);
    *weight = std::floor((at - 0.5 - whole) * 256 + 0.5) / 256;
    return int(whole);
  }

  GEMMLAB_UNCOUNTED Texel sample(float x, float y, float z, int dimensions, int layer) const {
    double weight[3] = {};
    int at[3] = {first(x, 0, &weight[0]), 0, layer};
    if (dimensions > 1) at[1] = first(y, 1, &weight[1]);
    if (dimensions > 2) at[2] = first(z, 2, &weight[2]);
    Texel sum = {};
    for (int corner = 0; corner < 8; ++corner) {
      double share = 1;
      int place_[3];
      for (int d = 0; d < 3; ++d) {
        const bool second = corner >> d & 1;
        share *= second ? weight[d] : 1 - weight[d];
        place_[d] = at[d] + second;
      }
      if (share == 0) continue;
      const Texel one = element(place_[0], place_[1], place_[2]);
      for (int i = 0; i < 4; ++i) sum.c[i] += share * one.c[i];
    }
    return sum;
  }
};

// Where the program's textures and surfaces are: in its own variables, which kernels may read.
constexpr int MOST_TEXTURES = 1024;
inline Texture textures[MOST_TEXTURES];
inline bool is_texture[MOST_TEXTURES];

inline cudaError_t keep(const Texture& texture, unsigned long long* object) {
  for (int i = 0; i < MOST_TEXTURES; ++i) {
    if (is_texture[i]) continue;
    is_texture[i] = true;
    textures[i] = texture;
    *object = reinterpret_cast<unsigned long long>(&textures[i]);
    return cudaSuccess;
  }
  return as_error(sim_refuse(cudaErrorMemoryAllocation,
                             "the simulator has 1024 textures and surfaces at most"));
}

inline const Texture& texture_of(unsigned long long object) {
  return *reinterpret_cast<const Texture*>(object);
}

template <class T>
T as_value(const Texel& texel) {
  using Channel = typename Channels<T>::type;
  const auto part = [&](int i) {
    if constexpr (std::is_integral_v<Channel>)
      return static_cast<Channel>(static_cast<long long>(texel.c[i]));
    else
      return static_cast<Channel>(texel.c[i]);
  };
  if constexpr (Channels<T>::count == 4)
    return {part(0), part(1), part(2), part(3)};
  else if constexpr (Channels<T>::count == 2)
    return {part(0), part(1)};
  else
    return part(0);
}

// The face of a cube that a direction meets, and where, from 0 to 1.
inline int cube_face(float x, float y, float z, float* s, float* t) {
  const float a = std::fabs(x), b = std::fabs(y), c = std::fabs(z);
  const int axis = a >= b && a >= c ? 0 : b >= c ? 1 : 2;
  const float most = axis == 0 ? x : axis == 1 ? y : z;
  const float u = axis == 0 ? (x < 0 ? z : -z) : axis == 1 ? x : (z < 0 ? -x : x);
  const float v = axis == 1 ? (y < 0 ? -z : z) : -y;
  *s = (u / std::fabs(most) + 1) / 2;
  *t = (v / std::fabs(most) + 1) / 2;
  return 2 * axis + (most < 0);
}

inline cudaError_t describe(const cudaResourceDesc& from, Texture* to) {
  *to = {};
  to->size[0] = to->size[1] = to->size[2] = 1;
  switch (from.resType) {
    case cudaResourceTypeArray: {
      const cudaArray& array = *from.res.array.array;
      to->data = array.data, to->format = array.format;
      to->size[0] = int(array.extent.width), to->size[1] = int(array.rows());
      to->size[2] = array.extent.depth ? int(array.extent.depth) : 1;
      to->pitch = array.pitch(), to->slice = array.slice();
      to->is_layered = array.flags & (cudaArrayLayered | cudaArrayCubemap);
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = from.res.linear;
      to->data = static_cast<unsigned char*>(linear.devPtr), to->format = linear.desc;
      to->size[0] = int(linear.sizeInBytes / size_t(bytes_of(linear.desc)));
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = from.res.pitch2D;
      to->data = static_cast<unsigned char*>(rows.devPtr), to->format = rows.desc;
      to->size[0] = int(rows.width), to->size[1] = int(rows.height);
      to->pitch = rows.pitchInBytes;
      return cudaSuccess;
    }
    default:
      return as_error(sim_refuse(cudaErrorNotSupported,
                                 "the simulator has no mipmapped arrays to make a texture of"));
  }
}

}  // namespace gemmlab_sim

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                           const cudaResourceDesc* resource,
                                           const cudaTextureDesc* how,
                                           const cudaResourceViewDesc* view) {
  gemmlab_sim::Texture texture;
  if (view)
    return gemmlab_sim::as_error(
        sim_refuse(cudaErrorNotSupported, "the simulator has no views of a texture's resource"));
  if (const cudaError_t error = gemmlab_sim::describe(*resource, &texture)) return error;
  texture.how = *how;
  return gemmlab_sim::keep(texture, object);
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  const ptrdiff_t number = &gemmlab_sim::texture_of(object) - gemmlab_sim::textures;
  if (number < 0 || number >= gemmlab_sim::MOST_TEXTURES) return cudaErrorInvalidValue;
  gemmlab_sim::is_texture[number] = false;
  return cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                           const cudaResourceDesc* resource) {
  gemmlab_sim::Texture texture;
  if (const cudaError_t error = gemmlab_sim::describe(*resource, &texture)) return error;
  return gemmlab_sim::keep(texture, object);
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return cudaDestroyTextureObject(object);
}

// Without filter, and the coordinate is an index.
template <class T>
__forceinline__ T tex1Dfetch(cudaTextureObject_t object, int x) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).element(x, 0, 0));
}
template <class T>
__forceinline__ T tex1D(cudaTextureObject_t object, float x) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).sample(x, 0, 0, 1, 0));
}
template <class T>
__forceinline__ T tex2D(cudaTextureObject_t object, float x, float y) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).sample(x, y, 0, 2, 0));
}
template <class T>
__forceinline__ T tex3D(cudaTextureObject_t object, float x, float y, float z) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).sample(x, y, z, 3, 0));
}
template <class T>
__forceinline__ T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).sample(x, 0, 0, 1, layer));
}
template <class T>
__forceinline__ T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
  return gemmlab_sim::as_value<T>(gemmlab_sim::texture_of(object).sample(x, y, 0, 2, layer));
}
// With normalized coordinates, as cubemaps have; a face's edge is clamped.
template <class T>
__forceinline__ T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
  float s, t;
  const int face = gemmlab_sim::cube_face(x, y, z, &s, &t);
  return tex2DLayered<T>(object, s, t, face);
}
// One channel of the four elements that a linear filter would read.
template <class T>
__forceinline__ T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0) {
  gemmlab_sim::Texture texture = gemmlab_sim::texture_of(object);
  texture.how.filterMode = cudaFilterModeLinear;
  double weight;
  const int i = texture.first(x, 0, &weight), j = texture.first(y, 1, &weight);
  gemmlab_sim::Texel four = {};
  const int across[] = {0, 1, 1, 0}, down[] = {1, 1, 0, 0};
  for (int k = 0; k < 4; ++k) four.c[k] = texture.element(i + across[k], j + down[k], 0).c[channel];
  return gemmlab_sim::as_value<T>(four);
}
template <class T>
__forceinline__ T tex2DLod(cudaTextureObject_t object, float x, float y, float level) {
  if (level != 0)
    sim_not_simulated(
        "tex2DLod() with a level other than 0: textures have no mipmaps | pass level 0");
  return tex2D<T>(object, x, y);
}

namespace gemmlab_sim {
// Where an element of a surface lies, x in bytes; null: outside, and the mode has it ignored.
__forceinline__ unsigned char* surface_place(cudaSurfaceObject_t object, int x, int y, int z,
                                             int bytes, cudaSurfaceBoundaryMode mode) {
  const Texture& surface = texture_of(object);
  const int last = surface.size[0] * bytes_of(surface.format) - bytes;
  const auto inside = [](int v, int most) { return v < 0 ? 0 : v > most ? most : v; };
  const int a = inside(x, last), b = inside(y, surface.size[1] - 1);
  const int c = inside(z, surface.size[2] - 1);
  if (a != x || b != y || c != z) {
    if (mode == cudaBoundaryModeTrap)
      sim_assertion_failed("the surface's element lies inside (cudaBoundaryModeTrap)");
    if (mode == cudaBoundaryModeZero) return nullptr;
  }
  return surface.data + size_t(c) * surface.slice + size_t(b) * surface.pitch + a;
}
template <class T>
GEMMLAB_UNCOUNTED void surface_write(T value, unsigned char* at) {
  if (at) std::memcpy(at, &value, sizeof value);
}
template <class T>
GEMMLAB_UNCOUNTED void surface_read(T* value, const unsigned char* at) {
  *value = T{};
  if (at) std::memcpy(static_cast<void*>(value), at, sizeof *value);
}
}  // namespace gemmlab_sim

#define GEMMLAB_SURFACE(name, ints, x, y, z)                                                       \
  template <class T>                                                                               \
  __forceinline__ void name##write(T value, cudaSurfaceObject_t surface, GEMMLAB_LIST ints,        \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    gemmlab_sim::surface_write(                                                                    \
        value, gemmlab_sim::surface_place(surface, x, y, z, int(sizeof(T)), mode));                \
  }                                                                                                \
  template <class T>                                                                               \
  __forceinline__ void name##read(T* value, cudaSurfaceObject_t surface, GEMMLAB_LIST ints,        \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    gemmlab_sim::surface_read(value,                                                               \
                              gemmlab_sim::surface_place(surface, x, y, z, int(sizeof(T)), mode)); \
  }                                                                                                \
  template <class T>                                                                               \
  __forceinline__ T name##read(cudaSurfaceObject_t surface, GEMMLAB_LIST ints,                     \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {              \
    T value;                                                                                       \
    gemmlab_sim::surface_read(&value,                                                              \
                              gemmlab_sim::surface_place(surface, x, y, z, int(sizeof(T)), mode)); \
    return value;                                                                                  \
  }
#define GEMMLAB_LIST(...) __VA_ARGS__
GEMMLAB_SURFACE(surf1D, (int a), a, 0, 0)
GEMMLAB_SURFACE(surf2D, (int a, int b), a, b, 0)
GEMMLAB_SURFACE(surf3D, (int a, int b, int c), a, b, c)
GEMMLAB_SURFACE(surf2DLayered, (int a, int b, int c), a, b, c)
#undef GEMMLAB_LIST
#undef GEMMLAB_SURFACE
#undef GEMMLAB_UNCOUNTED
