// What the drivers of the peers have in common: the one function that Python calls, and how a
// driver finds the encoder of tensor maps without linking libcuda.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define PEER_EXPORT extern "C" __attribute__((visibility("default")))

// C = A @ B on a stream: bf16 in and out, sums in fp32, C row-major. Gives 0, a cudaError_t, or one
// of these if the peer does not take the launch.
PEER_EXPORT int launch(void* A, void* B, void* C, int M, int N, int K, cudaStream_t stream);
constexpr int kRefused = 10001;      // a shape that the peer excludes
constexpr int kNoTensorMap = 10002;  // the driver refused a tensor map
constexpr int kNoEncoder = 10003;    // the driver has no cuTensorMapEncodeTiled

using PeerEncoder = decltype(&cuTensorMapEncodeTiled);

inline PeerEncoder peer_encoder() {
  static PeerEncoder found = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult state;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                     &state);
    return reinterpret_cast<PeerEncoder>(entry);
  }();
  return found;
}
