// Nodes of a graph that run a graph of their own: once, not at all, or again and again.
#pragma once
#include "graph_nodes.h"

enum cudaGraphConditionalNodeType : int {
  cudaGraphCondTypeIf = 0,
  cudaGraphCondTypeWhile = 1,
  cudaGraphCondTypeSwitch = 2,
};
enum : unsigned { cudaGraphCondAssignDefault = 1 };

struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned size;
  cudaGraph_t* phGraph_out;
};
struct cudaChildGraphNodeParams {
  cudaGraph_t graph;
};

// CUDA's is a union of these.
struct cudaGraphNodeParams {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cudaKernelNodeParams kernel = {};
  cudaMemcpyNodeParams memcpy = {};
  cudaMemsetParams memset = {};
  cudaHostNodeParams host = {};
  cudaChildGraphNodeParams graph = {};
  cudaMemAllocNodeParams alloc = {};
  cudaMemFreeNodeParams free = {};
  cudaConditionalNodeParams conditional = {};
};

inline cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                                    cudaGraph_t graph, unsigned initial = 0,
                                                    unsigned flags = 0) {
  using gemmlab_sim::Decision;
  graph->decisions.push_back(std::make_shared<Decision>(
      Decision{initial, initial, (flags & cudaGraphCondAssignDefault) != 0}));
  *handle = reinterpret_cast<uintptr_t>(graph->decisions.back().get());
  return cudaSuccess;
}
// A kernel calls it. That is no access to memory of the kernel's.
__attribute__((no_sanitize_thread, noinline)) inline void cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned value) {
  reinterpret_cast<gemmlab_sim::Decision*>(handle)->value = value;
}

namespace gemmlab_sim {

inline cudaError_t add_conditional(GEMMLAB_AFTER, cudaConditionalNodeParams& asked) {
  constexpr Decides WHAT[] = {Decides::IF, Decides::WHILE, Decides::SWITCH};
  if (const cudaError_t error = add(node, graph, after, count, cudaGraphNodeTypeConditional, {}))
    return error;
  CUgraphNode_st& made = **node;
  made.decides = WHAT[asked.type];
  made.decision = reinterpret_cast<Decision*>(asked.handle);
  for (unsigned i = 0; i < asked.size; ++i) {
    made.bodies.push_back(std::make_unique<CUgraph_st>());
    made.shown.push_back(made.bodies.back().get());
  }
  asked.phGraph_out = made.shown.data();
  return cudaSuccess;
}

// The copy of a graph: nodes that come after each other are those of the copy. copies: node by
// original.
inline std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph,
                                           std::map<cudaGraphNode_t, cudaGraphNode_t>& copies) {
  auto made = std::make_unique<CUgraph_st>();
  made->decisions = graph.decisions;
  for (const auto& node : graph.nodes) {
    const cudaGraphNode_t copy = made->add(node->type, {}, node->work);
    copy->decides = node->decides, copy->decision = node->decision;
    for (const auto& body : node->bodies) copy->bodies.push_back(copy_of(*body, copies));
    copies[node.get()] = copy;
  }
  for (const auto& node : graph.nodes)
    for (const cudaGraphNode_t before : node->after)
      copies[node.get()]->after.push_back(copies[before]);
  return made;
}

}  // namespace gemmlab_sim

inline cudaError_t cudaGraphAddChildGraphNode(GEMMLAB_AFTER, cudaGraph_t child) {
  using namespace gemmlab_sim;
  if (const cudaError_t error = add(node, graph, after, count, cudaGraphNodeTypeGraph, {}))
    return error;
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  (*node)->bodies.push_back(copy_of(*child, copies));
  return cudaSuccess;
}
inline cudaError_t cudaGraphClone(cudaGraph_t* made, cudaGraph_t graph) {
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  *made = gemmlab_sim::copy_of(*graph, copies).release();
  return cudaSuccess;
}

inline cudaError_t cudaGraphAddNode(GEMMLAB_AFTER, cudaGraphNodeParams* asked) {
  switch (asked->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, after, count, &asked->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, after, count, &asked->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, after, count, &asked->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, after, count, &asked->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, after, count, asked->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, after, count, &asked->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, after, count, asked->free.dptr);
    case cudaGraphNodeTypeConditional:
      return gemmlab_sim::add_conditional(node, graph, after, count, asked->conditional);
    default:
      return gemmlab_sim::as_error(sim_refuse(
          cudaErrorNotSupported, "the simulator does not make this node by cudaGraphAddNode"));
  }
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                    size_t count, cudaGraphNodeParams* asked) {
  return cudaGraphAddNode(node, graph, after, count, asked);
}
