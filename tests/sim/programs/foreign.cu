// What files of other projects take for granted: headers of PyTorch's, names that say that nvcc
// compiles, functions of halves, a dynamic array that begins at a multiple of 1024, fp8 and random
// numbers, launches in macros, with defaults, and by an array of pointers.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>
#include <math_constants.h>
#include <torch/extension.h>

#include <cstdio>

#if !defined(__CUDACC__) || !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__)
#error "a header would leave out what this program needs"
#endif

__global__ void swizzled(int* out) {
  extern __shared__ half tile[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned place = (base + threadIdx.x * 16) ^ ((threadIdx.x / 8 % 8) * 16);
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(threadIdx.x) : "memory");
  __syncthreads();
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[threadIdx.x]) : "r"(place));
}

__global__ void functions(float* out) {
  out[0] = float(hexp(half(0.0f))) + float(hsqrt(half(4.0f))) + float(hrcp(half(0.5f)));
  const half2 pair = h2sqrt(half2{half(9.0f), half(16.0f)});
  out[1] = float(pair.x) + float(pair.y) + float(umin(3u, 0xffffffffu)) + float(umax(1u, 2u));
}

__global__ void fp8(int* wrong) {
  for (int bits = 0; bits < 256; ++bits) {
    const half wide = __nv_cvt_fp8_to_halfraw(bits, __NV_E4M3);
    if (!__hisnan(wide)) *wrong += __nv_cvt_float_to_fp8(wide, __NV_NOSAT, __NV_E4M3) != bits;
    const half other = __nv_cvt_fp8_to_halfraw(bits, __NV_E5M2);
    if (!__hisnan(other)) *wrong += __nv_cvt_float_to_fp8(other, __NV_NOSAT, __NV_E5M2) != bits;
  }
  *wrong += float(__nv_fp8_e4m3(0.3f)) != 0.3125f || float(__nv_fp8_e4m3(1000.0f)) != 448;
  *wrong +=
      float(__nv_fp8_e4m3(2.125f)) != 2 || float(__nv_fp8_e5m2(1e-7f)) != 0;  // a tie, too little
}

// Jumps and steps agree: a number of one sequence is one of another offset.
__global__ void random(int* wrong, unsigned seed = 7) {
  curandState state, other;
  curand_init(seed, 0, 0, &state);
  for (int i = 0; i < 5; ++i) curand(&state);
  curand_init(seed, 0, 5, &other);
  *wrong += curand(&state) != curand(&other);
  curand_init(seed, 1, 0, &other);
  *wrong += curand(&state) == curand(&other);
  float sum = 0, square = 0;
  for (int i = 0; i < 1000; ++i) sum += curand_uniform(&state) / 1000;
  for (int i = 0; i < 1000; ++i) square += powf(curand_normal(&state), 2) / 1000;
  *wrong += fabsf(sum - 0.5f) > 0.05f || fabsf(square - 1) > 0.2f;
  curandStatePhilox4_32_10_t philox;
  curand_init(0, 0, 0, &philox);
  *wrong += curand(&philox) != 0x6627e8d5u;  // the generator's published first number
}

__global__ void guarded(int* wrong) {
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800)
  *wrong += 0;
#elif __CUDA_ARCH__ < 800
  *wrong += 1;
#else
  *wrong += 2;
#endif
#ifdef __CUDA_ARCH__
  *wrong += 4;  // as the host's code sees it
#endif
}

__global__ void scaled_float_kernel(float* x, float by) { x[threadIdx.x] *= by; }
#define SCALE(type, x, by) scaled_##type##_kernel<<<1, 2>>>(x, by)

int launched_otherwise(float* x, int* wrong) {
  fp8<<<1, 1>>>(wrong);
  random<<<1, 1>>>(wrong);
  guarded<<<1, 1>>>(wrong);
  SCALE(float, x, 2.0f);
  float half_ = 0.5f, pi = CUDART_PI_F;
  void* arguments[] = {&x, &half_};
  cudaLaunchKernel((void*)scaled_float_kernel, dim3(1), dim3(2), arguments, 0, nullptr);
  arguments[1] = &pi;
  cudaLaunchCooperativeKernel((const void*)scaled_float_kernel, dim3(1), dim3(2), arguments);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scaled_float_kernel, 256, 48 << 10);
  const auto add = [](cudaStream_t, cudaError_t error, void* to) {
    *static_cast<int*>(to) += error;
  };
  cudaStreamAddCallback(nullptr, add, wrong, 0);
  const bool refused = cudaLaunchCooperativeKernel(scaled_float_kernel, dim3(132 * 2 + 1),
                                                   dim3(1024), arguments) != cudaSuccess;
  return *wrong + (blocks != 4) + !refused + (cudaGetLastError() == cudaSuccess);
}

torch::Tensor launched(torch::Tensor a) {
  TORCH_CHECK(a.dtype() == torch::kFloat32, "a is float");
  auto made = torch::empty({a.size(0), 2}, a.options());
  functions<<<1, 1>>>(made.data_ptr<float>());
  return made;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launched", &launched, "a kernel", py::arg("a")); }

int main() {
  int* places;
  float* sums;
  cudaMallocManaged(&places, 64 * sizeof(int));
  cudaMallocManaged(&sums, 2 * sizeof(float));
  swizzled<<<1, 64, 1024>>>(places);
  functions<<<1, 1>>>(sums);
  cudaDeviceSynchronize();
  int wrong = 0, grid = 0, block = 0, mode = -1;
  for (int i = 0; i < 64; ++i) wrong += places[i] != i;
  wrong += sums[0] != 5.0f || sums[1] != 12.0f;
  const char* text = nullptr;
  wrong += cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text) != CUDA_SUCCESS;
  wrong += std::string(text) != "invalid argument";
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, functions);
  wrong += grid < 1 || block < 32;
  cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
  wrong += mode != cudaComputeModeDefault;
  int* more;
  cudaMallocManaged(&more, sizeof(int));
  *more = 0;
  wrong += launched_otherwise(sums, more);
  wrong += fabsf(sums[0] - 5 * CUDART_PI_F) > 1e-5f;
  printf(wrong ? "%d wrong\n" : "right\n", wrong);
  return wrong;
}
