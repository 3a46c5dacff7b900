// The launches of sgemm_20_any_shape: of its own kernel, and of sgemm_19_stream_k on padded copies.
// 20_any_shape.cuh includes it behind its kernel and its configurations.
#pragma once
#include "../common/launch/device_attribute.cuh"
#include "../common/shape/padded.cuh"

namespace sgemm_20_any_shape {

inline bool divides(int unit, const void* p) { return reinterpret_cast<size_t>(p) % unit == 0; }

// [tiles]
// How many slices of k let the tiles fill the GPU once; each of MIN_SLICE k tiles at least.
template <class T>
int slices(const GemmArgs& g, bool split) {
  if (!split) return 1;
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
  const int tiles = ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN);
  return max(1, min(T::PER_SM * sms / tiles, ceil_div(g.K, BK) / MIN_SLICE));
}

template <class T>
cudaError_t run_tiles(const GemmArgs& g, bool split, cudaStream_t stream) {
  // Rows of B and C begin at multiples of 16 bytes.
  const bool vector = g.N % 4 == 0 && divides(16, g.B) && divides(16, g.C);
  const int slice_tiles = max(1, ceil_div(ceil_div(g.K, BK), slices<T>(g, split)));
  const int count = max(1, ceil_div(ceil_div(g.K, BK), slice_tiles));
  const cudaError_t done = launch(vector ? kernel<T, true> : kernel<T, false>,
                                  dim3(ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN), count),
                                  dim3(T::THREADS), 0, stream, g, slice_tiles);
  return done != cudaSuccess || count == 1
             ? done
             : launch_add_slices<float>(g.workspace, g, count, stream);
}
// [/tiles]

// [packed]
// The product with zeros added: whose copies are needed, and where in the workspace they stand.
struct Padded {
  GemmArgs g;    // as sgemm_19_stream_k takes it
  bool a, b, c;  // is it a copy
  size_t bytes;

  explicit Padded(const GemmArgs& given) : g(given), bytes(0) {
    g.M = ceil_div(g.M, 128) * 128;
    g.N = ceil_div(g.N, 128) * 128;
    g.K = ceil_div(g.K, 16) * 16;
    a = g.M != given.M || g.K != given.K || !divides(16, g.A);
    b = g.N != given.N || g.K != given.K || !divides(16, g.B);
    c = g.M != given.M || g.N != given.N || !divides(16, g.C);
    if (a) g.A = take((size_t)g.M * g.K);
    if (b) g.B = take((size_t)g.K * g.N);
    if (c) g.C = take((size_t)g.M * g.N);
    if (c) g.alpha = 1.0f, g.beta = 0.0f;
    g.workspace = static_cast<char*>(given.workspace) + bytes;
    bytes += workspace_sgemm_19_stream_k(g);
  }
  float* take(size_t floats) {
    char* here = static_cast<char*>(g.workspace) + bytes;
    bytes += floats * sizeof(float);
    return reinterpret_cast<float*>(here);
  }
};

inline cudaError_t run_packed(const GemmArgs& g, cudaStream_t stream) {
  const Padded p(g);
  cudaError_t done = cudaSuccess;
  if (p.a) done = launch_pad(g.A, (float*)p.g.A, g.M, g.K, p.g.M, p.g.K, stream);
  if (p.b && done == cudaSuccess)
    done = launch_pad(g.B, (float*)p.g.B, g.K, g.N, p.g.K, p.g.N, stream);
  if (done == cudaSuccess) done = launch_sgemm_19_stream_k(p.g, stream);
  if (p.c && done == cudaSuccess) done = launch_unpad<float>(p.g.C, g, p.g.N, stream);
  return done;
}
// [/packed]

}  // namespace sgemm_20_any_shape
