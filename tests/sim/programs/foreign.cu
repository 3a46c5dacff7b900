// What files of other projects take for granted: headers of PyTorch's, names that say that nvcc
// compiles, functions of halves, and a dynamic array that begins at a multiple of 1024.
#include <cuda.h>
#include <cuda_fp16.h>
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
  printf(wrong ? "%d wrong\n" : "right\n", wrong);
  return wrong;
}
