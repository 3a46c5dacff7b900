// The launches of sgemm_20_any_shape: of its own kernel, and of sgemm_19_stream_k on padded copies.
// 20_any_shape.cuh includes it behind its kernel and its configurations.
#pragma once
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
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

// Floats from row to row of a slice's sums, and all of them.
inline int sums_row(const GemmArgs& g) { return ceil_div(g.N, 4) * 4; }

template <class T>
size_t sums_bytes(const GemmArgs& g) {
  const int count = slices<T>(g, true);
  return count > 1 ? (size_t)count * g.M * sums_row(g) * sizeof(float) : 0;
}

template <class T>
cudaError_t run_tiles(const GemmArgs& g, bool split, cudaStream_t stream) {
  // Rows of B and C begin at multiples of 16 bytes.
  const bool vector = g.N % 4 == 0 && divides(16, g.B) && divides(16, g.C);
  const auto tiles = vector ? kernel<T, true> : kernel<T, false>;
  const int slice_tiles = max(1, ceil_div(ceil_div(g.K, BK), slices<T>(g, split)));
  const int count = max(1, ceil_div(ceil_div(g.K, BK), slice_tiles));
  cudaError_t done = cudaSuccess;
  if (T::SMEM_BYTES > 48 << 10) done = allow_shared_memory(tiles, T::SMEM_BYTES);
  if (done == cudaSuccess)
    done = launch(tiles, dim3(ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN), count), dim3(T::THREADS),
                  T::SMEM_BYTES, stream, g, slice_tiles);
  return done != cudaSuccess || count == 1
             ? done
             : launch_add_slices<float>(g.workspace, g, count, stream, sums_row(g));
}
// [/tiles]

// f(tile, split) for the tile of a configuration.
template <class F>
auto with_tile(int config, F f) {
  if (config == LARGE) return f(Large(), true);
  if (config == TALL || config == TALL_SPLIT) return f(Tall(), config == TALL_SPLIT);
  if (config == SLIM) return f(Slim(), true);
  if (config == LOW) return f(Low(), true);
  return config == TINY ? f(Tiny(), false) : f(Small(), config == SMALL_SPLIT);
}

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

// [guess]
// What follows is fitted to an H200, at some hundred shapes, and not derived from anything.
constexpr int GUESS_SMS = 132;
constexpr float GUESS_FMAS = 203000.0f, GUESS_BYTES = 3e6f;  // of an SM, of all, in a microsecond

// The part of its FMAs that an SM does with `blocks` of the `most` that it has room for.
inline float share_of(int most, int blocks) {
  constexpr float SHARES[][5] = {
      {0, 0.66f, 1}, {0, 0.45f, 0.8f, 0.93f}, {0, 0.4f, 0.7f, 0.74f, 0.9f}};
  return SHARES[most - 2][blocks];
}

template <class T>
float guess_tiles(const GemmArgs& g) {
  const long long tiles = (long long)ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN);
  const int k_tiles = max(1, ceil_div(g.K, BK));
  const int most = max(1, (int)min(T::PER_SM * GUESS_SMS / tiles, (long long)k_tiles / MIN_SLICE));
  const int depth = ceil_div(k_tiles, most), count = ceil_div(k_tiles, depth);
  const long long blocks = (tiles * count + GUESS_SMS - 1) / GUESS_SMS;  // of the busiest SM
  const int last = blocks % T::PER_SM;
  const float turns = (blocks - last) / share_of(T::PER_SM, T::PER_SM) +
                      (last ? last / share_of(T::PER_SM, last) : 0);
  const float sums = count > 1 ? 1.5f + count * 8.0f * g.M * g.N / (GUESS_BYTES * 7 / 6) : 0;
  return 4 + turns * depth * (T::BM * T::BN * BK / GUESS_FMAS) + sums;
}

inline float guess_packed(const GemmArgs& g) {
  const float m = ceil_div(g.M, 128) * 128.0f, n = ceil_div(g.N, 128) * 128.0f;
  const float k = ceil_div(g.K, 16) * 16.0f;
  float floats = 2 * m * k, launches = 1;  // of A, into panels
  auto copy = [&](float rows, float columns, float to_rows, float to_columns) {
    if (rows == to_rows && columns == to_columns) return;
    floats += rows * columns + to_rows * to_columns, launches += 1;
  };
  copy(g.M, g.K, m, k), copy(g.K, g.N, k, n), copy(g.M, g.N, m, n);
  const float few = m * n < 100 * 128 * 128 ? 1.15f : 1;  // tiles, for stream-K
  return 12 + 2 * launches + 4 * floats / GUESS_BYTES +
         few * m * n * k / (GUESS_SMS * GUESS_FMAS * 1.04f);
}
// [/guess]

}  // namespace sgemm_20_any_shape
