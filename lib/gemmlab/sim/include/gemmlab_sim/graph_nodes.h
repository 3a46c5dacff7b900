// CUDA's graphs, whose nodes a program makes one by one.
#pragma once
#include "arrays.h"
#include "graph_memory.h"
#include "host_queries.h"

namespace gemmlab_sim {
using Nodes = std::vector<cudaGraphNode_t>;

// A kernel of a node with its parameters' types: of `params.func = (void*)kernel` is made
// `params.func = {kernel, "kernel"}` beforehand (program/edits.py).
struct GraphKernel {
  const void* address = nullptr;
  const char* name = nullptr;
  // What launches it, with copies of what the addresses in `arguments` show.
  Work (*bind)(const void* kernel, SimLaunch launch, void** arguments) = nullptr;

  GraphKernel(std::nullptr_t = nullptr) {}
  template <class... Params>
  GraphKernel(void (*kernel)(Params...), const char* name = nullptr)
      : address(reinterpret_cast<const void*>(kernel)), name(name), bind(bound<Params...>) {}

 private:
  template <class... Params>
  static Work bound(const void* kernel, SimLaunch launch, void** arguments) {
    const auto typed = reinterpret_cast<void (*)(Params...)>(const_cast<void*>(kernel));
    auto call = call_of(typed, arguments, std::index_sequence_for<Params...>());
    return [launch, call]() mutable { return launch_now(launch, call); };
  }
};
}  // namespace gemmlab_sim

struct cudaKernelNodeParams {
  gemmlab_sim::GraphKernel func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
using cudaKernelNodeParamsV2 = cudaKernelNodeParams;
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
using cudaMemsetParamsV2 = cudaMemsetParams;
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
using cudaHostNodeParamsV2 = cudaHostNodeParams;
struct cudaMemcpyNodeParams {
  int flags;
  cudaMemcpy3DParms copyParams;
};
enum cudaMemAllocationType : int { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType : int {
  cudaMemHandleTypeNone,
  cudaMemHandleTypePosixFileDescriptor,
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
};
struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
};
using cudaMemAllocNodeParamsV2 = cudaMemAllocNodeParams;
struct cudaMemFreeNodeParams {
  void* dptr;
};
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = new CUgraph_st();
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

namespace gemmlab_sim {

inline Work kernel_work(const cudaKernelNodeParams& asked) {
  if (!asked.func.bind) return {};
  SimLaunch launch =
      launch_of(asked.func.address, asked.gridDim, asked.blockDim, asked.sharedMemBytes);
  launch.name = asked.func.name;
  return asked.func.bind(asked.func.address, launch, asked.kernelParams);
}

// Whole elements are set, of 1, 2 or 4 bytes.
inline Work memset_work(const cudaMemsetParams& asked) {
  return [asked] {
    const OpenMemory open;
    for (size_t row = 0; row < asked.height; ++row)
      for (size_t n = 0; n < asked.width; ++n)
        std::memcpy(static_cast<char*>(asked.dst) + row * asked.pitch + n * asked.elementSize,
                    &asked.value, asked.elementSize);
    return cudaSuccess;
  };
}

inline Work host_work(const cudaHostNodeParams& asked) {
  return [asked] {
    asked.fn(asked.userData);
    return cudaSuccess;
  };
}

inline Work copy_work(const cudaMemcpy3DParms& asked) {
  return [asked] { return cudaMemcpy3D(&asked); };
}

inline cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                       size_t count, cudaGraphNodeType type, Work work) {
  if (!node || !graph || (count && !after)) return cudaErrorInvalidValue;
  *node = graph->add(type, Nodes(after, after + count), std::move(work));
  return cudaSuccess;
}

}  // namespace gemmlab_sim

// Which nodes a new one comes after.
#define GEMMLAB_AFTER \
  cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count

inline cudaError_t cudaGraphAddKernelNode(GEMMLAB_AFTER, const cudaKernelNodeParams* asked) {
  gemmlab_sim::Work work = gemmlab_sim::kernel_work(*asked);
  if (!work) return cudaErrorInvalidDeviceFunction;
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeKernel, std::move(work));
}
inline cudaError_t cudaGraphAddMemsetNode(GEMMLAB_AFTER, const cudaMemsetParams* asked) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeMemset,
                          gemmlab_sim::memset_work(*asked));
}
inline cudaError_t cudaGraphAddMemcpyNode(GEMMLAB_AFTER, const cudaMemcpy3DParms* asked) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                          gemmlab_sim::copy_work(*asked));
}
inline cudaError_t cudaGraphAddMemcpyNode1D(GEMMLAB_AFTER, void* to, const void* from, size_t bytes,
                                            cudaMemcpyKind kind) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                          [=] { return cudaMemcpy(to, from, bytes, kind); });
}
inline cudaError_t cudaGraphAddHostNode(GEMMLAB_AFTER, const cudaHostNodeParams* asked) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeHost,
                          gemmlab_sim::host_work(*asked));
}
inline cudaError_t cudaGraphAddEmptyNode(GEMMLAB_AFTER) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeEmpty, {});
}
inline cudaError_t cudaGraphAddEventRecordNode(GEMMLAB_AFTER, cudaEvent_t event) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeEventRecord,
                          [=] { return cudaEventRecord(event); });
}
inline cudaError_t cudaGraphAddEventWaitNode(GEMMLAB_AFTER, cudaEvent_t) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeWaitEvent, {});
}
inline cudaError_t cudaGraphAddMemAllocNode(GEMMLAB_AFTER, cudaMemAllocNodeParams* asked,
                                            const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE()) {
  const auto memory = gemmlab_sim::graph_memory(asked->bytesize, file, line);
  if (!memory) return cudaErrorMemoryAllocation;
  asked->dptr = memory->address;
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeMemAlloc,
                          [memory] { return memory->begin(); });
}
inline cudaError_t cudaGraphAddMemFreeNode(GEMMLAB_AFTER, void* memory) {
  return gemmlab_sim::add(node, graph, after, count, cudaGraphNodeTypeMemFree,
                          [=] { return gemmlab_sim::release(memory); });
}

// ---- what a graph consists of ----
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return cudaSuccess;
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}
// As many as there are, or as there is room for.
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  for (size_t i = 0; nodes && i < *count && i < graph->nodes.size(); ++i)
    nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return cudaSuccess;
}
inline cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  size_t found = 0;
  for (const auto& node : graph->nodes) {
    if (!node->after.empty()) continue;
    if (nodes && found < *count) nodes[found] = node.get();
    ++found;
  }
  *count = found;
  return cudaSuccess;
}
inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const cudaKernelNodeParams* asked) {
  gemmlab_sim::Work work = gemmlab_sim::kernel_work(*asked);
  if (!work || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
  node->work = std::move(work);
  return cudaSuccess;
}
