// The host's side of a launch: errors, streams, cudaLaunchKernelEx.
#pragma once
#include <tuple>

#include "abi.h"
#include "thread.h"

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
};

struct CUstream_st;
using cudaStream_t = CUstream_st*;

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};

namespace gemmlab_sim {

// A kernel with the arguments of one launch. A thread of the grid calls it with copies of them.
template <class... Params>
struct Call {
  void (*kernel)(Params...);
  std::tuple<Params...> arguments;
  static void run(void* self) {
    const Call& call = *static_cast<const Call*>(self);
    std::apply(call.kernel, call.arguments);
  }
};

}  // namespace gemmlab_sim

// Runs the whole grid before it returns; streams order nothing.
template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Args&&... args) {
  gemmlab_sim::Call<Params...> call{kernel, {static_cast<Args&&>(args)...}};
  const dim3 grid = config->gridDim, block = config->blockDim;
  const SimLaunch launch = {
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, config->dynamicSmemBytes};
  return static_cast<cudaError_t>(sim_launch(&launch, call.run, &call));
}
