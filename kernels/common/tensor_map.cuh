// The host's side of the copy engine: what a tensor map says of a row-major matrix.
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

template <class T>
constexpr CUtensorMapDataType tensor_map_type();
template <>
constexpr CUtensorMapDataType tensor_map_type<float>() {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}
template <>
constexpr CUtensorMapDataType tensor_map_type<__half>() {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}
template <>
constexpr CUtensorMapDataType tensor_map_type<__nv_bfloat16>() {
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

// A rows x columns matrix, moved in boxes of box_rows x box_columns elements. `row_stride`:
// elements from row to row. Addresses and strides must be multiples of 16 bytes; the rows of a box
// too, and with a swizzle no longer than its span; shorter ones still start a span apart in shared
// memory.
template <class T>
cudaError_t encode_tensor_map(CUtensorMap* map, const T* matrix, int rows, int columns,
                              int row_stride, int box_rows, int box_columns,
                              CUtensorMapSwizzle swizzle) {
  // The driver's function is asked for at run time, so that nothing links its library.
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                               12000, cudaEnableDefault, &result);
    if (error != cudaSuccess) return error;
    if (result != cudaDriverEntryPointSuccess) return cudaErrorSymbolNotFound;
    encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }
  // Dimension 0 is along a row.
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {row_stride * sizeof(T)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns),
                             static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t element_strides[2] = {1, 1};
  const CUresult result =
      encode(map, tensor_map_type<T>(), 2, const_cast<T*>(matrix), sizes, strides, box,
             element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
