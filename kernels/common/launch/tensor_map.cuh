// The host's side of the copy engine: what a tensor map says of a row-major matrix.
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "driver_function.cuh"

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

// Which rule of the driver a map would break, and what to do: it says itself only that there is
// one.
template <class T>
cudaError_t check_tensor_map(const T* matrix, int rows, int columns, int row_stride, int box_rows,
                             int box_columns, CUtensorMapSwizzle swizzle) {
  const long long past = reinterpret_cast<uintptr_t>(matrix) % 16, span = 16 << swizzle;
  const long long stride = (long long)row_stride * sizeof(T), box_row = box_columns * sizeof(T);
  const struct {
    bool kept;
    const char* words;
    long long value, bound;
  } rules[] = {
      {past == 0, "its address is %lld past a multiple of %lld bytes; copy the matrix", past, 16},
      {stride % 16 == 0, "its rows are %lld bytes apart, no multiple of %lld; pad them", stride,
       16},
      {1 <= box_rows && box_rows <= 256,
       "box_rows is %lld, allowed are 1 to %lld; use several boxes", box_rows, 256},
      {1 <= box_columns && box_columns <= 256,
       "box_columns is %lld, allowed are 1 to %lld; use several boxes", box_columns, 256},
      {box_row % 16 == 0, "a row of its box has %lld bytes, no multiple of %lld", box_row, 16},
      {!swizzle || box_row <= span,
       "a row of its box has %lld bytes, more than the swizzle's %lld; use several boxes", box_row,
       span},
  };
  for (const auto& rule : rules) {
    char words[128];
    std::snprintf(words, sizeof words, rule.words, rule.value, rule.bound);
    if (!rule.kept)
      return refuse(cudaErrorInvalidValue, "tensor map of a %dx%d matrix: %s", rows, columns,
                    words);
  }
  return cudaSuccess;
}

// A rows x columns matrix, moved in boxes of box_rows x box_columns elements. `row_stride`:
// elements from row to row. With a swizzle, rows of a box that are shorter than its span still
// start a span apart in shared memory. promotion: how much of a line the L2 fetches where a box
// asks for less. Of an empty matrix there is no map: `map` is zero, and no copy may use it.
template <class T>
cudaError_t encode_tensor_map(
    CUtensorMap* map, const T* matrix, int rows, int columns, int row_stride, int box_rows,
    int box_columns, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B) {
  *map = {};
  if (rows == 0 || columns == 0) return cudaSuccess;
  cudaError_t error =
      check_tensor_map(matrix, rows, columns, row_stride, box_rows, box_columns, swizzle);
  if (error != cudaSuccess) return error;
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) error = driver_function("cuTensorMapEncodeTiled", &encode);
  if (error != cudaSuccess) return error;
  // Dimension 0 is along a row.
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {row_stride * sizeof(T)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns),
                             static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t element_strides[2] = {1, 1};
  const CUresult result = encode(map, tensor_map_type<T>(), 2, const_cast<T*>(matrix), sizes,
                                 strides, box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return cudaSuccess;
  return refuse(cudaErrorInvalidValue, "tensor map of a %dx%d matrix: the driver's CUresult is %d",
                rows, columns, static_cast<int>(result));
}
