// Programmatic dependent launch: a grid begins while the one before it in the stream still runs.
// From sm_90 on; before, grids follow each other and both are nothing.
// PTX ISA, "Parallel Synchronization and Communication Instructions: griddepcontrol".
#pragma once
#include <cuda_runtime.h>

// In the first grid: the next one may begin once every block has come here or has ended.
__device__ __forceinline__ void grid_launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// In the next grid: returns when the first has ended and its writes are visible.
__device__ __forceinline__ void grid_dependency_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
