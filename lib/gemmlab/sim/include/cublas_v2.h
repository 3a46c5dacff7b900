// Stand-in for cuBLAS' header of this name: matrix products of the first kind that programs compare
// their kernels with, computed by the host in fp64 and not counted.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#define CUBLAS_API_H_  // by which other headers see that cuBLAS' was included

struct cublasContext;
using cublasHandle_t = cublasContext*;
enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t : int { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t : int {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
};
enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
enum cublasGemmAlgo_t : int { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cudaDataType_t : int { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
using cudaDataType = cudaDataType_t;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

namespace gemmlab_sim {

// A matrix by columns, as cuBLAS takes it; or, transposed, by rows.
template <class T>
struct Columns {
  const T* data;
  int leading;
  bool transposed;
  double at(int row, int column) const {
    const size_t place =
        transposed ? size_t(row) * leading + column : size_t(column) * leading + row;
    return double(float(data[place]));
  }
};

template <class T, class Out>
void multiply_on_host(int m, int n, int k, double alpha, Columns<T> a, Columns<T> b, double beta,
                      Out* c, int leading) {
  std::vector<double> row(static_cast<size_t>(k));
  const OpenMemory open;
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p < k; ++p) row[size_t(p)] = a.at(i, p);
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += row[size_t(p)] * b.at(p, j);
      Out& out = c[size_t(j) * leading + i];
      out = Out(float(alpha * sum + (beta == 0 ? 0 : beta * double(float(out)))));
    }
  }
}

template <class T, class Out>
void multiply_as(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, double alpha,
                 const void* a, int lda, const void* b, int ldb, double beta, void* c, int ldc) {
  multiply_on_host<T>(m, n, k, alpha, {static_cast<const T*>(a), lda, op_a != CUBLAS_OP_N},
                      {static_cast<const T*>(b), ldb, op_b != CUBLAS_OP_N}, beta,
                      static_cast<Out*>(c), ldc);
}

}  // namespace gemmlab_sim

inline cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b,
                                  int m, int n, int k, const float* alpha, const float* a, int lda,
                                  const float* b, int ldb, const float* beta, float* c, int ldc) {
  gemmlab_sim::multiply_as<float, float>(op_a, op_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c,
                                         ldc);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b,
                                  int m, int n, int k, const __half* alpha, const __half* a,
                                  int lda, const __half* b, int ldb, const __half* beta, __half* c,
                                  int ldc) {
  gemmlab_sim::multiply_as<__half, __half>(op_a, op_b, m, n, k, float(*alpha), a, lda, b, ldb,
                                           float(*beta), c, ldc);
  return CUBLAS_STATUS_SUCCESS;
}
namespace gemmlab_sim {
// A vector whose elements are `step` apart is a matrix of one column or, transposed, one row.
template <class T>
cublasStatus_t multiply_vector(cublasOperation_t op, int m, int n, T alpha, const T* a, int lda,
                               const T* x, int step_x, T beta, T* y, int step_y) {
  const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
  if (step_x < 1 || step_y < 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  const OpenMemory open;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int p = 0; p < columns; ++p)
      sum += double(op == CUBLAS_OP_N ? a[size_t(p) * lda + i] : a[size_t(i) * lda + p]) *
             double(x[size_t(p) * step_x]);
    T& out = y[size_t(i) * step_y];
    out = T(alpha * sum + (beta == 0 ? 0 : beta * out));
  }
  return CUBLAS_STATUS_SUCCESS;
}
}  // namespace gemmlab_sim

inline cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t op, int m, int n,
                                  const float* alpha, const float* a, int lda, const float* x,
                                  int step_x, const float* beta, float* y, int step_y) {
  return gemmlab_sim::multiply_vector(op, m, n, *alpha, a, lda, x, step_x, *beta, y, step_y);
}
inline cublasStatus_t cublasDgemv(cublasHandle_t, cublasOperation_t op, int m, int n,
                                  const double* alpha, const double* a, int lda, const double* x,
                                  int step_x, const double* beta, double* y, int step_y) {
  return gemmlab_sim::multiply_vector(op, m, n, *alpha, a, lda, x, step_x, *beta, y, step_y);
}
// alpha and beta are floats, or with CUBLAS_COMPUTE_16F __half.
template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType type_a,
                            int lda, const void* b, cudaDataType, int ldb, const void* beta,
                            void* c, cudaDataType type_c, int ldc, Compute compute,
                            cublasGemmAlgo_t) {
  const bool halves = int(compute) == CUBLAS_COMPUTE_16F;
  const auto number = [&](const void* at) {
    return halves ? float(*static_cast<const __half*>(at)) : *static_cast<const float*>(at);
  };
  const auto run = [&](auto in, auto out) {
    gemmlab_sim::multiply_as<decltype(in), decltype(out)>(op_a, op_b, m, n, k, number(alpha), a,
                                                          lda, b, ldb, number(beta), c, ldc);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (type_a == CUDA_R_32F && type_c == CUDA_R_32F) return run(float(), float());
  if (type_a == CUDA_R_16F && type_c == CUDA_R_16F) return run(__half(), __half());
  if (type_a == CUDA_R_16F && type_c == CUDA_R_32F) return run(__half(), float());
  if (type_a == CUDA_R_16BF && type_c == CUDA_R_16BF) return run(__nv_bfloat16(), __nv_bfloat16());
  if (type_a == CUDA_R_16BF && type_c == CUDA_R_32F) return run(__nv_bfloat16(), float());
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
