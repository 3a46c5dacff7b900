// What every step shares on the host side: its arguments and how it is launched.
#pragma once
#include <cuda_runtime.h>

// Bits of GemmArgs::layout. A matrix that is turned lies in memory as its transpose, row-major.
enum : int { TURNED_B = 1, TURNED_A = 2 };

// C = alpha * A @ B + beta * C, all row-major: A is (M, K), B is (K, N), C is (M, N). Turned, A
// lies in memory as (K, M), B as (N, K). beta == 0 never reads C, so C may hold anything, NaN
// included.
struct GemmArgs {
  const void* A;
  const void* B;
  void* C;
  int M, N, K;
  float alpha, beta;
  // Scratch memory of workspace_<name>(args) bytes, 256-byte aligned. What it holds at the launch
  // is undefined. Null for a step that has no such function, and where it returns 0.
  void* workspace = nullptr;
  int config = -1;  // which of the step's configurations to run; -1: the step chooses
  int layout = 0;   // TURNED_A and TURNED_B, for steps that take them
};

__host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// One launch path for all steps: cudaLaunchKernelEx is a plain function template, so the same line
// compiles with nvcc and with a C++ compiler. attribute: one more property of the launch, or null.
template <class... Params, class... Args>
cudaError_t launch_with(cudaLaunchAttribute* attribute, void (*kernel)(Params...), dim3 grid,
                        dim3 block, size_t smem_bytes, cudaStream_t stream, Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = attribute ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}

template <class... Params, class... Args>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t smem_bytes,
                   cudaStream_t stream, Args... args) {
  return launch_with(nullptr, kernel, grid, block, smem_bytes, stream, args...);
}
