// What a kernel written in a notebook without a launcher of its own is launched with.
#pragma once
#include "host.cuh"
#include "shared_memory.cuh"

// As kernel<<<grid, block, smem_bytes, stream>>>(args...), unless `before` is an error.
template <class... Params, class... Args>
cudaError_t launch_next(cudaError_t before, void (*kernel)(Params...), dim3 grid, dim3 block,
                        size_t smem_bytes, cudaStream_t stream, Args... args) {
  if (before != cudaSuccess) return before;
  if (smem_bytes > 48 * 1024) {
    const cudaError_t error = allow_shared_memory(kernel, static_cast<int>(smem_bytes));
    if (error != cudaSuccess) return error;
  }
  return launch(kernel, grid, block, smem_bytes, stream, args...);
}
