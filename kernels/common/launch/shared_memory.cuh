// Dynamic shared memory beyond 48 KB, which a kernel has to be allowed.
#pragma once
#include <cuda_runtime.h>

#include "device_attribute.cuh"
#include "refuse.cuh"

// Up to `bytes` of it for each block of `kernel`.
template <class... Params>
cudaError_t allow_shared_memory(void (*kernel)(Params...), int bytes) {
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (bytes > most)
    return refuse(cudaErrorInvalidValue,
                  "a block asks for %d bytes of shared memory, and this GPU gives it %d at most; "
                  "use smaller tiles or fewer stages",
                  bytes, most);
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
