// What a stream's capture forbids: each such call is refused with CUDA's error, and most end what
// could come of the capture, of which then only cudaStreamEndCapture is left.
#pragma once
#include <set>

#include "abi_host.h"
#include "capture.h"

namespace gemmlab_sim {

inline cudaError_t refused(cudaError_t error, const char* reason) {
  return static_cast<cudaError_t>(sim_refuse(error, reason));
}

inline cudaError_t invalidated(Capture& capture, cudaError_t error, const char* reason) {
  capture.is_valid = false;
  return refused(error, reason);
}

inline cudaError_t refused_for_invalid() {
  return refused(cudaErrorStreamCaptureInvalidated,
                 "an earlier call has invalidated the stream's capture; look at the first error, "
                 "and end the capture with cudaStreamEndCapture");
}

// Of a call that uses the default stream, which waits for all streams but non-blocking ones.
inline cudaError_t may_use_default_stream() {
  for (Capture* capture : captures())
    if (is_made(capture->origin) && capture->origin->is_blocking)
      return invalidated(*capture, cudaErrorStreamCaptureImplicit,
                         "a call uses the default stream while a stream captures, and would wait "
                         "for it; name the capturing stream, or make it with "
                         "cudaStreamNonBlocking");
  return cudaSuccess;
}

// Of what comes in a stream.
inline cudaError_t may_use(cudaStream_t stream) {
  if (captures().empty()) return cudaSuccess;
  if (!stream || stream == cudaStreamLegacy) return may_use_default_stream();
  const Capture* capture = capture_of(stream);
  return !capture || capture->is_valid ? cudaSuccess : refused_for_invalid();
}

inline cudaError_t may_wait_for_device() {
  for (Capture* capture : captures())
    return invalidated(*capture, cudaErrorStreamCaptureUnsupported,
                       "the host waits for the device while a stream captures; wait after "
                       "cudaStreamEndCapture and cudaGraphLaunch");
  return cudaSuccess;
}

// Also of cudaStreamQuery.
inline cudaError_t may_wait_for(cudaStream_t stream) {
  if (const cudaError_t error = may_use(stream)) return error;
  if (Capture* capture = capture_of(stream))
    return invalidated(*capture, cudaErrorStreamCaptureUnsupported,
                       "the host waits for a stream that captures, in which nothing runs; wait "
                       "after cudaStreamEndCapture and cudaGraphLaunch");
  return cudaSuccess;
}

inline cudaError_t may_wait_for(const Captured& event) {
  if (!event.is_captured) return cudaSuccess;
  const char* reason =
      "the host asks for an event that a capturing stream has recorded, and that never comes; "
      "record it anew in a stream that does not capture";
  if (const auto capture = event.capture.lock())
    return invalidated(*capture, cudaErrorCapturedEvent, reason);
  return refused(cudaErrorCapturedEvent, reason);
}

// Of an allocation that no stream orders.
inline cudaError_t may_allocate() {
  for (Capture* capture : captures())
    if (!capture->is_relaxed)
      return invalidated(*capture, cudaErrorStreamCaptureUnsupported,
                         "memory is allocated or freed while a stream captures; do it before, or "
                         "in the stream with cudaMallocAsync and cudaFreeAsync");
  return cudaSuccess;
}

// Of a stream that is to wait for an event; recorded: it was, by a stream.
inline cudaError_t may_wait(cudaStream_t stream, const Captured& event, bool recorded) {
  Capture* const own = capture_of(stream);
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (const cudaError_t error = may_use(stream)) return error;
  if (own && capture && own != capture.get())
    return invalidated(*own, cudaErrorStreamCaptureMerge,
                       "a capturing stream waits for an event of another capture; capture both "
                       "from one stream, which the other waits for");
  if (own && recorded && !event.is_captured)
    return invalidated(*own, cudaErrorStreamCaptureIsolation,
                       "a capturing stream waits for an event that was recorded outside of the "
                       "capture; record it after cudaStreamBeginCapture in a stream of the "
                       "capture, or wait for it before");
  return cudaSuccess;
}

// Whether what each stream of the capture did last comes before what the origin did last.
inline bool is_joined(const Capture& capture) {
  const auto& ends = capture.last.find(capture.origin)->second;
  std::set<cudaGraphNode_t> before(ends.begin(), ends.end());
  std::vector<cudaGraphNode_t> left = ends;
  while (!left.empty()) {
    const cudaGraphNode_t node = left.back();
    left.pop_back();
    for (const cudaGraphNode_t one : node->after)
      if (before.insert(one).second) left.push_back(one);
  }
  for (const auto& [stream, last] : capture.last)
    for (const cudaGraphNode_t node : last)
      if (!before.count(node)) return false;
  return true;
}

}  // namespace gemmlab_sim
