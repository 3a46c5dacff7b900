#include "tensor_map.h"

#include <cstring>

#include "../../include/cuda.h"
#include "../../include/gemmlab_sim/abi.h"
#include "engine/limits.h"
#include "memory/shared_memory.h"

namespace sim {

static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap), "a map fits in CUDA's structure");

bool TensorMap::read(const void* address, TensorMap& map) {
  if (address) std::memcpy(&map, address, sizeof map);
  return address && map.mark == MARK;
}

bool Box::find_plane(u32 plane, i64& offset) const {
  offset = 0;
  for (u32 d = 2; d < TensorMap::MAX_RANK; ++d) {
    const i64 index = at[d] + plane % map.box[d];
    if (index < 0 || index >= map.sizes[d]) return false;
    offset += index * map.strides[d - 1];
    plane /= map.box[d];
  }
  return true;
}

RowPart Box::part(u32 row) const {
  const i64 y = at[1] + row % map.box[1];
  const i64 first = std::max<i64>(0, -at[0]),
            last = std::min<i64>(map.box[0], map.sizes[0] - at[0]);
  i64 plane;
  if (y < 0 || y >= map.sizes[1] || first >= last || !find_plane(row / map.box[1], plane))
    return {0, 0, nullptr};
  return {u32(first) * map.element_bytes, u32(last) * map.element_bytes,
          map.base + plane + y * map.strides[0] + (at[0] + first) * map.element_bytes};
}

u32 Box::shared_bytes() const {
  u32 end = address;
  for_each_piece([&](u32 place, u32 count) { end = std::max(end, place + count); });
  return end - address;
}

void Box::load(char* memory) const {
  for (u32 row = 0; row < rows(); ++row) {
    const RowPart part = this->part(row);
    const auto zero = [&](u32, u32 place, u32 count) { std::memset(memory + place, 0, count); };
    for_each_chunk(row, 0, part.begin, zero);
    for_each_chunk(row, part.end, row_bytes(), zero);
    for_each_chunk(row, part.begin, part.end, [&](u32 at, u32 place, u32 count) {
      std::memcpy(memory + place, part.global + (at - part.begin), count);
    });
  }
}

void Box::take(const char* memory, char* copy) const {
  for (u32 row = 0; row < rows(); ++row)
    for_each_chunk(row, 0, row_bytes(), [&](u32 at, u32 place, u32 count) {
      std::memcpy(copy + row * row_bytes() + at, memory + place, count);
    });
}

void Box::store(const char* copy) const {
  for (u32 row = 0; row < rows(); ++row) {
    const RowPart part = this->part(row);
    if (part.begin < part.end)
      std::memcpy(part.global, copy + row * row_bytes() + part.begin, part.end - part.begin);
  }
}

namespace {

u32 bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

u32 span_of(CUtensorMapSwizzle swizzle) { return TensorMap::CHUNK << u32(swizzle); }

// Remembers which argument the driver would refuse.
template <class... Values>
CUresult invalid_map(const char* format, Values... values) {
  refuse(cudaErrorInvalidValue, format, values...);
  return CUDA_ERROR_INVALID_VALUE;
}

template <class... Values>
CUresult unsupported_map(const char* format, Values... values) {
  refuse(cudaErrorNotSupported, format, values...);
  return CUDA_ERROR_NOT_SUPPORTED;
}

#define GEMMLAB_ENCODE "cuTensorMapEncodeTiled: "

CUresult check_dimensions(const TensorMap& map) {
  for (u32 d = 0; d < map.rank; ++d)
    if (map.sizes[d] < 1 || map.sizes[d] > i64(1) << 32)
      return invalid_map(GEMMLAB_ENCODE "globalDim holds %lld, allowed are 1 to 2^32",
                         (long long)map.sizes[d]);
  // That a stride be a multiple of the one before it, and no less than what it strides over, is
  // documented as well; the driver takes others.
  for (u32 d = 0; d + 1 < map.rank; ++d)
    if (map.strides[d] % 16 || map.strides[d] < 0 || map.strides[d] >= i64(1) << 40)
      return invalid_map(GEMMLAB_ENCODE
                         "globalStrides[%u] is %lld bytes, which must be a multiple of 16 below "
                         "2^40; make rows longer, or copy them into longer ones",
                         d, (long long)map.strides[d]);
  for (u32 d = 0; d < map.rank; ++d)
    if (map.box[d] < 1 || map.box[d] > 256)
      return invalid_map(GEMMLAB_ENCODE "boxDim holds %u, allowed are 1 to 256; use several boxes",
                         map.box[d]);
  return CUDA_SUCCESS;
}

CUresult check_box(const TensorMap& map) {
  const u32 row_bytes = map.box[0] * map.element_bytes;
  if (row_bytes % 16)
    return invalid_map(GEMMLAB_ENCODE "boxDim[0] is %u bytes, which must be a multiple of 16",
                       row_bytes);
  if (map.swizzle_bytes > TensorMap::CHUNK && row_bytes > map.swizzle_bytes)
    return invalid_map(GEMMLAB_ENCODE
                       "boxDim[0] is %u bytes, more than the swizzle's %u; use a narrower box, and "
                       "several of them for a tile",
                       row_bytes, map.swizzle_bytes);
  u64 bytes = row_bytes;
  for (u32 d = 1; d < map.rank; ++d) bytes *= map.box[d];
  // Not documented: the driver refuses a box of 256 KiB. Where it draws the line is not known; here
  // it is what fits in a block.
  if (bytes > SharedMemory::MAX_DYNAMIC)
    return invalid_map(GEMMLAB_ENCODE
                       "boxDim makes boxes of %llu bytes, more than the %u of shared memory that a "
                       "block can have; use smaller boxes",
                       (unsigned long long)bytes, u32(SharedMemory::MAX_DYNAMIC));
  return CUDA_SUCCESS;
}

CUresult check_element_strides(u32 rank, const cuuint32_t* element_strides) {
  for (u32 d = 0; d < rank; ++d)
    if (element_strides[d] < 1 || element_strides[d] > 8)
      return invalid_map(GEMMLAB_ENCODE "elementStrides holds %u, allowed are 1 to 8",
                         element_strides[d]);
  // Along a row the driver ignores it.
  for (u32 d = 1; d < rank; ++d)
    if (element_strides[d] != 1)
      return unsupported_map(GEMMLAB_ENCODE "the simulator knows elementStrides of 1 only");
  return CUDA_SUCCESS;
}

// The driver's conditions (cuda.h, cuTensorMapEncodeTiled), for what is supported. That tensorMap
// be a multiple of 64 bytes is documented too, but the driver takes others.
CUresult check_map(const TensorMap& map, const cuuint32_t* element_strides) {
  if (!map.base || reinterpret_cast<uintptr_t>(map.base) % 16)
    return invalid_map(GEMMLAB_ENCODE "globalAddress is %u past a multiple of 16 bytes, or null",
                       u32(reinterpret_cast<uintptr_t>(map.base) % 16));
  if (const CUresult error = check_dimensions(map)) return error;
  if (const CUresult error = check_box(map)) return error;
  return check_element_strides(map.rank, element_strides);
}

CUresult check_options(u32 rank, CUtensorMapDataType type, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  if (rank < 1 || rank > TensorMap::MAX_RANK)
    return invalid_map(GEMMLAB_ENCODE "tensorRank is %u, allowed are 1 to 5", rank);
  if (!bytes_of(type))
    return unsupported_map(GEMMLAB_ENCODE "the simulator does not know data type %u", type);
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && rank < 3)
    return invalid_map(GEMMLAB_ENCODE "interleaved layouts need a tensorRank of at least 3");
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return unsupported_map(GEMMLAB_ENCODE "the simulator does not know interleaved layouts");
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    return unsupported_map(GEMMLAB_ENCODE "the simulator does not know swizzle %u", swizzle);
  if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return unsupported_map(GEMMLAB_ENCODE "the simulator fills with zeros only");
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" void* sim_driver_function(const char* name) {
  if (!std::strcmp(name, "cuTensorMapEncodeTiled"))
    return reinterpret_cast<void*>(sim_tensor_map_encode_tiled);
  if (!std::strcmp(name, "cuTensorMapEncodeIm2col"))
    return reinterpret_cast<void*>(sim_tensor_map_encode_im2col);
  return nullptr;
}

extern "C" CUresult sim_tensor_map_encode_tiled(
    CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (const CUresult error = sim::check_options(rank, type, interleave, swizzle, fill))
    return error;
  sim::TensorMap map;
  map.mark = sim::TensorMap::MARK;
  map.base = static_cast<char*>(address);
  map.rank = rank;
  for (sim::u32 d = 0; d < rank; ++d) {
    map.sizes[d] = sim::i64(sizes[d]);
    map.box[d] = box[d];
    if (d + 1 < rank) map.strides[d] = sim::i64(strides[d]);
  }
  map.element_bytes = sim::bytes_of(type);
  map.swizzle_bytes = sim::span_of(swizzle);
  if (const CUresult error = sim::check_map(map, element_strides)) return error;
  std::memcpy(out, &map, sizeof map);
  return CUDA_SUCCESS;
}

extern "C" CUresult sim_tensor_map_encode_im2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t,
                                                 void*, const cuuint64_t*, const cuuint64_t*,
                                                 const int*, const int*, cuuint32_t, cuuint32_t,
                                                 const cuuint32_t*, CUtensorMapInterleave,
                                                 CUtensorMapSwizzle, CUtensorMapL2promotion,
                                                 CUtensorMapFloatOOBfill) {
  return sim::unsupported_map(
      "cuTensorMapEncodeIm2col: the simulator knows tiled tensor maps only "
      "(cuTensorMapEncodeTiled)");
}
#pragma GCC visibility pop
