// Launching a grid of clusters: blocks in groups that run at the same time (sm_90 and later).
#pragma once
#include "host.cuh"

// The grid must be a multiple of the cluster in every dimension; both count blocks.
template <class... Params, class... Args>
cudaError_t launch_clusters(void (*kernel)(Params...), dim3 grid, dim3 cluster, dim3 block,
                            size_t smem_bytes, cudaStream_t stream, Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  return launch_with(&attribute, kernel, grid, block, smem_bytes, stream, args...);
}
