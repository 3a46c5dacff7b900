// Streams, and what they record: the nodes of a graph (graphs.h has the calls that make the rest).
//
// All that a program asks of a stream happens at once, in the order of the program, unless the
// stream captures: then it becomes a node of a graph, which does it at each of the graph's
// launches.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "launch.h"

struct CUgraph_st;
using cudaGraph_t = CUgraph_st*;
struct CUgraphNode_st;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphConditionalHandle = unsigned long long;

namespace gemmlab_sim {
using Work = std::function<cudaError_t()>;
enum class Decides { NOTHING, IF, WHILE, SWITCH };
// What a graph's kernels set, and its conditional nodes ask for.
struct Decision {
  unsigned value, initial;
  bool begins_anew;  // at each launch of the graph, with `initial`
};
}  // namespace gemmlab_sim

// work: what it does, empty for a node that only orders others. bodies: of a conditional node, or
// the one of a child graph.
struct CUgraphNode_st {
  cudaGraphNodeType type;
  gemmlab_sim::Work work;
  std::vector<cudaGraphNode_t> after;
  std::vector<std::unique_ptr<CUgraph_st>> bodies = {};
  gemmlab_sim::Decides decides = gemmlab_sim::Decides::NOTHING;
  gemmlab_sim::Decision* decision = nullptr;
  std::vector<cudaGraph_t> shown = {};  // the bodies, as the program gets them
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<std::shared_ptr<gemmlab_sim::Decision>> decisions;

  cudaGraphNode_t add(cudaGraphNodeType type, std::vector<cudaGraphNode_t> after,
                      gemmlab_sim::Work work = {}) {
    nodes.push_back(std::make_unique<CUgraphNode_st>());
    CUgraphNode_st& node = *nodes.back();
    node.type = type, node.work = std::move(work), node.after = std::move(after);
    return &node;
  }
};

namespace gemmlab_sim {
// A capture under way. origin: the stream that it began in. last: by stream, the nodes that its
// next one comes after. is_own: the graph was made for it.
struct Capture {
  cudaGraph_t graph;
  cudaStream_t origin;
  std::map<cudaStream_t, std::vector<cudaGraphNode_t>> last;
  unsigned long long number;
  bool is_relaxed, is_own, is_valid = true;
};
// All that are under way.
inline std::vector<Capture*>& captures() {
  static std::vector<Capture*> all;
  return all;
}
// Where an event stands in a capture, if one has recorded it last.
struct Captured {
  std::weak_ptr<Capture> capture = {};
  std::vector<cudaGraphNode_t> after = {};
  bool is_captured = false;
};
}  // namespace gemmlab_sim

struct CUstream_st {
  std::shared_ptr<gemmlab_sim::Capture> capture;
  bool is_blocking = true;  // the default stream waits for it
};

// Streams that need not be made.
inline const cudaStream_t cudaStreamLegacy = reinterpret_cast<cudaStream_t>(1);
inline const cudaStream_t cudaStreamPerThread = reinterpret_cast<cudaStream_t>(2);
// Of kernels: what they launch there runs once they have ended, as in all of their streams.
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(3))
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(4))

namespace gemmlab_sim {

inline cudaError_t may_use(cudaStream_t stream);

// Of a stream that a kernel has made: there are no objects of the host's on the device.
inline cudaStream_t stream_of_device() { return reinterpret_cast<cudaStream_t>(8); }

inline bool is_made(cudaStream_t stream) { return reinterpret_cast<uintptr_t>(stream) > 8; }
// What the stream captures into; null if it does not capture.
inline Capture* capture_of(cudaStream_t stream) {
  return is_made(stream) ? stream->capture.get() : nullptr;
}

// Adds to what a capturing stream has recorded.
inline cudaGraphNode_t record(Capture& capture, cudaStream_t stream, cudaGraphNodeType type,
                              Work work) {
  std::vector<cudaGraphNode_t>& last = capture.last[stream];
  const cudaGraphNode_t node = capture.graph->add(type, last, std::move(work));
  last = {node};
  return node;
}

// Whether the stream captures, so that the event stands in the capture.
inline bool captures_event(cudaStream_t stream, Captured& event) {
  event = {};
  if (!capture_of(stream)) return false;
  event = {stream->capture, stream->capture->last[stream], true};
  return true;
}

// What comes in the stream comes after the event; a stream that waits for a captured event takes
// part in the capture.
inline void wait_in_capture(cudaStream_t stream, const Captured& event) {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (!capture || !is_made(stream)) return;
  stream->capture = capture;
  std::vector<cudaGraphNode_t>& last = capture->last[stream];
  last.insert(last.end(), event.after.begin(), event.after.end());
}

// Does it now, or once the graph is launched that the stream captures.
template <class Task>
cudaError_t in_stream(cudaStream_t stream, cudaGraphNodeType type, Task task) {
  if (sim_on_device()) return task();
  if (const cudaError_t error = may_use(stream)) return error;
  if (Capture* capture = capture_of(stream)) {
    record(*capture, stream, type, task);
    return cudaSuccess;
  }
  return task();
}

// A launch whose arguments the runtime may have to keep, because it comes later: a kernel's own.
template <class C>
cudaError_t launch_now(SimLaunch launch, C& call) {
  launch.keep = [](const void* given) -> void* { return new C(*static_cast<const C*>(given)); };
  launch.drop = [](void* kept) { delete static_cast<C*>(kept); };
  return static_cast<cudaError_t>(sim_launch(&launch, C::run, &call));
}

template <class C>
cudaError_t launch_in(cudaStream_t stream, const SimLaunch& launch, C& call) {
  if (sim_on_device()) return launch_now(launch, call);
  if (const cudaError_t error = may_use(stream)) return error;
  if (!capture_of(stream)) return launch_now(launch, call);
  return in_stream(stream, cudaGraphNodeTypeKernel,
                   [launch, call]() mutable { return launch_now(launch, call); });
}

}  // namespace gemmlab_sim
