// Launching clusters that may begin while the grid before them in the stream still runs. They call
// grid_dependency_wait() before they touch memory.
#pragma once
#include "host.cuh"

// teams clusters of `cluster` blocks each.
template <class... Params, class... Args>
cudaError_t launch_teams(void (*kernel)(Params...), int teams, int cluster, dim3 block,
                         size_t smem_bytes, cudaStream_t stream, Args... args) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(teams * cluster);
  config.blockDim = block;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}
