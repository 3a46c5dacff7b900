// Stand-in for CUDA's header of this name, without __pipeline_arrive_on.
#pragma once
#include <cuda_runtime.h>

#include "gemmlab_sim/abi_copy.h"
#include "gemmlab_sim/abi_matrix.h"

// The last `zfill` of `size_and_align` bytes are zeros, and are not read. Copies of 16 bytes go
// past L1; with a constant 0 as `zfill`, nvcc leaves the source size out.
__device__ __forceinline__ void __pipeline_memcpy_async(void* __restrict__ dst_shared,
                                                        const void* __restrict__ src_global,
                                                        size_t size_and_align, size_t zfill = 0) {
  const SimCopyPath path = size_and_align < 16 ? SIM_COPY_CA
                           : zfill             ? SIM_COPY_CG_ZFILL
                                               : SIM_COPY_CG;
  sim_cp_async(sim_shared_address(dst_shared), src_global, static_cast<unsigned>(size_and_align),
               static_cast<unsigned>(size_and_align - zfill), path);
}

__device__ __forceinline__ void __pipeline_commit() { sim_cp_async_commit(); }

// CUDA has this for up to 8 groups and takes more as 8.
__device__ __forceinline__ void __pipeline_wait_prior(size_t prior) {
  sim_cp_async_wait(prior < 8 ? static_cast<unsigned>(prior) : 8);
}
