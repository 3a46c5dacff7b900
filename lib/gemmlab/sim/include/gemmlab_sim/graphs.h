// CUDA's graphs: captured from streams, instantiated, launched. The nodes of a launch run one after
// the other, each after those that it depends on; what nothing orders runs in the order in which
// it was added, and that something is missing between two nodes is not found.
#pragma once
#include <algorithm>

#include "graph_conditions.h"

// ---- capture ----
enum cudaStreamCaptureMode : int {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed,
};
enum cudaStreamCaptureStatus : int {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated,
};
enum cudaStreamUpdateCaptureDependenciesFlags : int {
  cudaStreamAddCaptureDependencies,
  cudaStreamSetCaptureDependencies,
};

namespace gemmlab_sim {
inline cudaError_t begin_capture(cudaStream_t stream, cudaGraph_t graph, Nodes after,
                                 cudaStreamCaptureMode mode) {
  static unsigned long long number = 0;
  if (!is_made(stream))
    return refused(cudaErrorStreamCaptureUnsupported,
                   "the default stream cannot be captured; make one with cudaStreamCreate");
  if (capture_of(stream))
    return refused(cudaErrorIllegalState,
                   "the stream captures already; end that with cudaStreamEndCapture first");
  const bool is_own = !graph, is_relaxed = mode == cudaStreamCaptureModeRelaxed;
  if (is_own) graph = new CUgraph_st();
  stream->capture = std::make_shared<Capture>(
      Capture{graph, stream, {{stream, std::move(after)}}, ++number, is_relaxed, is_own});
  captures().push_back(stream->capture.get());
  return cudaSuccess;
}

// Whether the capture may end in the stream.
inline cudaError_t may_end(Capture& capture, cudaStream_t stream) {
  if (stream != capture.origin)
    return invalidated(capture, cudaErrorStreamCaptureUnmatched,
                       "the capture did not begin in this stream; end it in the stream of "
                       "cudaStreamBeginCapture");
  if (!capture.is_valid) return refused_for_invalid();
  if (is_joined(capture)) return cudaSuccess;
  return refused(cudaErrorStreamCaptureUnjoined,
                 "a stream has joined the capture, and the stream that it began in does not wait "
                 "for its last work; record an event there, and let this one wait for it "
                 "(cudaStreamWaitEvent) before cudaStreamEndCapture");
}
}  // namespace gemmlab_sim

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return gemmlab_sim::begin_capture(stream, nullptr, {}, mode);
}
inline cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after,
                                                 const cudaGraphEdgeData*, size_t count,
                                                 cudaStreamCaptureMode mode) {
  if (!graph || (count && !after)) return cudaErrorInvalidValue;
  return gemmlab_sim::begin_capture(stream, graph, gemmlab_sim::Nodes(after, after + count), mode);
}
// It ends for all streams that have taken part; without a graph if it was invalidated.
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph) *graph = nullptr;
  if (!gemmlab_sim::capture_of(stream))
    return gemmlab_sim::refused(cudaErrorIllegalState, "the stream does not capture");
  const auto capture = stream->capture;
  const cudaError_t error = gemmlab_sim::may_end(*capture, stream);
  if (error == cudaErrorStreamCaptureUnmatched) return error;
  auto& all = gemmlab_sim::captures();
  all.erase(std::find(all.begin(), all.end(), capture.get()));
  for (const auto& [one, last] : capture->last) one->capture.reset();
  if (error && capture->is_own) delete capture->graph;
  if (!error && graph) *graph = capture->graph;
  return error;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const gemmlab_sim::Capture* capture = gemmlab_sim::capture_of(stream);
  *status = !capture            ? cudaStreamCaptureStatusNone
            : capture->is_valid ? cudaStreamCaptureStatusActive
                                : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* number = nullptr,
                                            cudaGraph_t* graph = nullptr,
                                            const cudaGraphNode_t** after = nullptr,
                                            size_t* count = nullptr) {
  cudaStreamIsCapturing(stream, status);
  gemmlab_sim::Capture* const capture = gemmlab_sim::capture_of(stream);
  if (!capture) return cudaSuccess;
  const gemmlab_sim::Nodes& last = capture->last[stream];
  if (number) *number = capture->number;
  if (graph) *graph = capture->graph;
  if (after) *after = last.data();
  if (count) *count = last.size();
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* number, cudaGraph_t* graph,
                                            const cudaGraphNode_t** after,
                                            const cudaGraphEdgeData** edges, size_t* count) {
  if (edges) *edges = nullptr;
  return cudaStreamGetCaptureInfo(stream, status, number, graph, after, count);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                       size_t count, unsigned flags) {
  gemmlab_sim::Capture* const capture = gemmlab_sim::capture_of(stream);
  if (!capture) return gemmlab_sim::refused(cudaErrorIllegalState, "the stream does not capture");
  gemmlab_sim::Nodes& last = capture->last[stream];
  if (flags == cudaStreamSetCaptureDependencies) last.clear();
  last.insert(last.end(), nodes, nodes + count);
  return cudaSuccess;
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                       const cudaGraphEdgeData*, size_t count,
                                                       unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}

// ---- launches ----
struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;  // by the original's node
};
using cudaGraphExec_t = CUgraphExec_st*;

namespace gemmlab_sim {

cudaError_t carry_out(CUgraph_st& graph);

inline cudaError_t decide(CUgraphNode_st& node) {
  const unsigned& value = node.decision->value;  // which a body's kernel may change
  if (node.decides == Decides::WHILE) {
    while (value)
      if (const cudaError_t error = carry_out(*node.bodies[0])) return error;
    return cudaSuccess;
  }
  const size_t chosen = node.decides == Decides::SWITCH ? value : value ? 0 : 1;
  return chosen < node.bodies.size() ? carry_out(*node.bodies[chosen]) : cudaSuccess;
}

inline cudaError_t carry_out(CUgraphNode_st& node) {
  if (node.decides != Decides::NOTHING) return decide(node);
  for (const auto& body : node.bodies)
    if (const cudaError_t error = carry_out(*body)) return error;
  return node.work ? node.work() : cudaSuccess;
}

// The nodes in an order in which each comes after those that it depends on; fewer if that cannot
// be.
inline Nodes in_order(const CUgraph_st& graph) {
  Nodes order;
  std::map<cudaGraphNode_t, bool> done;
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes) {
      bool ready = !done[node.get()];
      for (const cudaGraphNode_t before : node->after) ready = ready && done[before];
      if (!ready) continue;
      order.push_back(node.get());
      found = done[node.get()] = true;
    }
  }
  return order;
}

inline cudaError_t carry_out(CUgraph_st& graph) {
  for (const auto& decision : graph.decisions)
    if (decision->begins_anew) decision->value = decision->initial;
  for (const cudaGraphNode_t node : in_order(graph))
    if (const cudaError_t error = carry_out(*node)) return error;
  return cudaSuccess;
}

}  // namespace gemmlab_sim

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                        unsigned long long = 0) {
  if (!made || !graph) return cudaErrorInvalidValue;
  if (gemmlab_sim::in_order(*graph).size() != graph->nodes.size())
    return gemmlab_sim::as_error(
        sim_refuse(cudaErrorInvalidValue, "the graph's nodes depend on each other in a circle"));
  *made = new CUgraphExec_st();
  (*made)->graph = gemmlab_sim::copy_of(*graph, (*made)->copies);
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, cudaGraphNode_t*,
                                        char*, size_t) {
  return cudaGraphInstantiate(made, graph);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                                 unsigned long long) {
  return cudaGraphInstantiate(made, graph);
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (!graph) return cudaErrorInvalidValue;
  return gemmlab_sim::in_stream(stream, cudaGraphNodeTypeGraph,
                                [=] { return gemmlab_sim::carry_out(*graph->graph); });
}

// ---- changes of what was instantiated ----
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* asked) {
  const auto copy = graph->copies.find(node);
  if (copy == graph->copies.end()) return cudaErrorInvalidValue;
  return cudaGraphKernelNodeSetParams(copy->second, asked);
}

enum cudaGraphExecUpdateResult : int {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
  cudaGraphExecUpdateErrorNodeTypeChanged = 3,
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};

namespace gemmlab_sim {
// Whether one graph can take the place of another: the same nodes, in the same order of each other.
inline cudaGraphExecUpdateResult compare(const CUgraph_st& now, const CUgraph_st& next) {
  if (now.nodes.size() != next.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  std::map<cudaGraphNode_t, size_t> number;
  for (size_t i = 0; i < now.nodes.size(); ++i)
    number[now.nodes[i].get()] = number[next.nodes[i].get()] = i;
  for (size_t i = 0; i < now.nodes.size(); ++i) {
    const CUgraphNode_st &one = *now.nodes[i], &other = *next.nodes[i];
    if (one.type != other.type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (one.after.size() != other.after.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t k = 0; k < one.after.size(); ++k)
      if (number[one.after[k]] != number[other.after[k]])
        return cudaGraphExecUpdateErrorTopologyChanged;
    if (one.bodies.size() != other.bodies.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t k = 0; k < one.bodies.size(); ++k) {
      const cudaGraphExecUpdateResult inside = compare(*one.bodies[k], *other.bodies[k]);
      if (inside != cudaGraphExecUpdateSuccess) return inside;
    }
  }
  return cudaGraphExecUpdateSuccess;
}

// By each node of a graph, and of its nodes' bodies, the one at its place in a graph like it.
inline void match(const CUgraph_st& now, const CUgraph_st& next,
                  std::map<cudaGraphNode_t, cudaGraphNode_t>& found) {
  for (size_t i = 0; i < now.nodes.size(); ++i) {
    found[now.nodes[i].get()] = next.nodes[i].get();
    for (size_t k = 0; k < now.nodes[i]->bodies.size(); ++k)
      match(*now.nodes[i]->bodies[k], *next.nodes[i]->bodies[k], found);
  }
}
}  // namespace gemmlab_sim

inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t next,
                                       cudaGraphExecUpdateResultInfo* said) {
  const cudaGraphExecUpdateResult result = gemmlab_sim::compare(*graph->graph, *next);
  if (said) *said = {result, nullptr, nullptr};
  if (result == cudaGraphExecUpdateErrorNodeTypeChanged)
    return gemmlab_sim::refused(
        cudaErrorGraphExecUpdateFailure,
        "cudaGraphExecUpdate: a node is of another type in the new graph; instantiate that anew");
  if (result != cudaGraphExecUpdateSuccess)
    return gemmlab_sim::refused(cudaErrorGraphExecUpdateFailure,
                                "cudaGraphExecUpdate: the new graph has other nodes, or other "
                                "dependencies between them; instantiate that anew");
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies, places;
  std::unique_ptr<CUgraph_st> made = gemmlab_sim::copy_of(*next, copies);
  gemmlab_sim::match(*graph->graph, *made, places);
  for (auto& [original, copy] : graph->copies) copy = places[copy];  // programs go on naming these
  graph->graph = std::move(made);
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t next, cudaGraphNode_t* at,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo said;
  const cudaError_t error = cudaGraphExecUpdate(graph, next, &said);
  if (at) *at = said.errorNode;
  if (result) *result = said.result;
  return error;
}
#undef GEMMLAB_AFTER
