// Launching a grid that may begin while the one before it in the stream still runs. It has to call
// grid_dependency_wait() before it reads what that one writes.
#pragma once
#include <ptx/grid.cuh>

#include "host.cuh"

template <class... Params, class... Args>
cudaError_t launch_dependent(void (*kernel)(Params...), dim3 grid, dim3 block, size_t smem_bytes,
                             cudaStream_t stream, Args... args) {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(major >= 9 ? &attribute : nullptr, kernel, grid, block, smem_bytes, stream,
                     args...);
}
