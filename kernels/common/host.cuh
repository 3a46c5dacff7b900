// What every step shares on the host side: its arguments and how it is launched.
#pragma once
#include <cuda_runtime.h>

// C = alpha * A @ B + beta * C, all row-major: A is (M, K), B is (K, N), C is (M, N).
// beta == 0 never reads C, so C may hold anything, NaN included.
struct GemmArgs {
  const void* A;
  const void* B;
  void* C;
  int M, N, K;
  float alpha, beta;
};

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// One launch path for all steps: cudaLaunchKernelEx is a plain function template, so the same line
// compiles with nvcc and with a C++ compiler, and clusters will need its attributes.
template <class... Params, class... Args>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t smem_bytes,
                   cudaStream_t stream, Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}
