// sgemm_20_any_shape: any M, N, K and any alignment, and several ways to go.
//
// Change: three ways in place of one.
//   packed: sgemm_19_stream_k, on copies with zeros added where the shape does not fit it.
//   tiles:  A and B as they are given. Rows behind the edge of A are loaded from the last one
//   inside
//     and never stored; columns and k behind the edge count as zero. Values pass through registers
//     on their way to shared memory, so that A can be turned round and a value replaced. Few tiles
//     are cut along k into slices, and a second kernel adds the slices up.
//   thin:   at most 8 rows of A. B is read once, and its bytes are the limit.
// Which is fastest depends on the shape and on the GPU: lab.tune measures, `choose` guesses.
// Source: beyond the articles.
#pragma once
#include "../common/block_order.cuh"
#include "../common/guarded.cuh"
#include "../common/outer_product.cuh"
#include "../common/padded.cuh"
#include "../common/split_k.cuh"
#include "../common/thin.cuh"
#include "19_stream_k.cuh"

namespace sgemm_20_any_shape {

constexpr int BK = 16, LM = 8, LN = 4;  // lanes of a warp: 8 rows x 4 columns

// BM x BN for a block, TM x TN for a thread, PER_SM blocks on an SM.
template <int BM_, int BN_, int TM_, int TN_, int PER_SM_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, TM = TM_, TN = TN_, PER_SM = PER_SM_;
  static constexpr int WM = LM * TM, WN = LN * TN, THREADS = BM / TM * (BN / TN);
  static constexpr int A_ROWS = THREADS / (BK / 4), B_ROWS = THREADS / (BN / 4);  // of one copy
  static constexpr int A_COPIES = BM / A_ROWS, B_COPIES = BK / B_ROWS;
  static_assert(BM % WM == 0 && BN % WN == 0 && BM % A_ROWS == 0 && BK % B_ROWS == 0, "tile");
};

// Column of sA in which row k keeps element m: bits 2-3 of k move bits 3-4 of m.
__device__ __forceinline__ int swizzle(int k, int m) { return m ^ (k / 4 * 8); }

template <class T, bool VECTOR>
__global__ void __launch_bounds__(T::THREADS, T::PER_SM) kernel(GemmArgs g, int slice_tiles) {
  constexpr int BM = T::BM, BN = T::BN, TM = T::TM, TN = T::TN;
  __shared__ __align__(16) float sA[2][BK][BM];  // transposed, swizzled
  __shared__ __align__(16) float sB[2][BK][BN];
  const int M = g.M, N = g.N, K = g.K;
  const int tid = threadIdx.x, warp_id = tid / 32, lane_id = tid % 32;
  const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4;
  const int b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
  const int m = warp_id / (BN / T::WN) * T::WM + lane_id / LN * 4;
  const int n = warp_id % (BN / T::WN) * T::WN + lane_id % LN * 4;
  const int2 tile_mn = tile_at(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN));
  const int block_m = tile_mn.x * BM, block_n = tile_mn.y * BN;
  int k = blockIdx.y * slice_tiles * BK;  // first k of the next tile to load
  const int tiles = min(slice_tiles, ceil_div(K - k, BK));

  // [load]
  const float* gA[T::A_COPIES];
#pragma unroll
  for (int i = 0; i < T::A_COPIES; ++i) {
    const int row = min(block_m + a_row + i * T::A_ROWS, M - 1);
    gA[i] = static_cast<const float*>(g.A) + (size_t)row * K + a_col;
  }
  const int b_left = N - block_n - b_col;  // columns from this thread's first one to the edge
  const float* gB = static_cast<const float*>(g.B) + block_n + b_col;
  float4 next_a[T::A_COPIES], next_b[T::B_COPIES];
  auto load_next = [&] {
#pragma unroll
    for (int i = 0; i < T::A_COPIES; ++i)
      next_a[i] = load4_guarded<VECTOR>(gA[i] + k, K - k - a_col);
#pragma unroll
    for (int i = 0; i < T::B_COPIES; ++i) {
      const int row = k + b_row + i * T::B_ROWS;
      next_b[i] = load4_guarded<VECTOR>(gB + (size_t)row * N, row < K ? b_left : 0);
    }
    k += BK;
  };
  auto store_next = [&](int stage) {
#pragma unroll
    for (int i = 0; i < T::A_COPIES; ++i) {
      float* to = &sA[stage][a_col][swizzle(a_col, a_row + i * T::A_ROWS)];
      to[0 * BM] = next_a[i].x;
      to[1 * BM] = next_a[i].y;
      to[2 * BM] = next_a[i].z;
      to[3 * BM] = next_a[i].w;
    }
#pragma unroll
    for (int i = 0; i < T::B_COPIES; ++i)
      store4(&sB[stage][b_row + i * T::B_ROWS][b_col], next_b[i]);
  };
  // [/load]

  // [dot]
  float acc[TM][TN] = {};
  auto multiply = [&](int stage) {
#pragma unroll
    for (int kk = 0; kk < BK; ++kk) {
      float rA[TM], rB[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        unpack4(&rA[i], load4(&sA[stage][kk][swizzle(kk, m) + i * LM]));
#pragma unroll
      for (int j = 0; j < TN; j += 4) unpack4(&rB[j], load4(&sB[stage][kk][n + j * LN]));
      outer_product(acc, rA, rB);
    }
  };
  // [/dot]

  // [pipeline]
  if (tiles > 0) {
    load_next();
    store_next(0);
    __syncthreads();
  }
  for (int tile = 1; tile < tiles; ++tile) {
    load_next();
    multiply((tile - 1) % 2);
    store_next(tile % 2);
    __syncthreads();
  }
  if (tiles > 0) multiply((tiles - 1) % 2);
  // [/pipeline]

  // [store]
  // One slice writes C, several leave their sums to add_slices.
  const bool only = gridDim.y == 1;
  float* to = only ? static_cast<float*>(g.C)
                   : static_cast<float*>(g.workspace) + (size_t)blockIdx.y * M * N;
  const float alpha = only ? g.alpha : 1.0f, beta = only ? g.beta : 0.0f;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = block_m + m + i / 4 * (4 * LM) + i % 4;
    float* gC = to + (size_t)row * N + block_n + n;
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      if (row < M)
        write_c4_guarded<VECTOR>(gC + j * LN, &acc[i][j], N - block_n - n - j * LN, alpha, beta);
  }
  // [/store]
}

// [configurations]
using Tall = Tile<128, 64, 8, 8, 3>;
using Small = Tile<64, 64, 8, 8, 6>;
enum Config { PACKED, TALL, TALL_SPLIT, SMALL, SMALL_SPLIT, THIN, CONFIGS };

// The configuration asked for, else a guess: packed where large tiles fill
// the GPU, or half of it without any padding; else small tiles, cut along k.
inline int choose(const GemmArgs& g) {
  const bool few_rows = g.M <= thin::ROWS;
  if (g.config >= 0 && g.config < CONFIGS) return g.config;
  if (few_rows) return THIN;
  const long long large = (long long)ceil_div(g.M, 128) * ceil_div(g.N, 128);
  const bool fits = g.M % 128 == 0 && g.N % 128 == 0 && g.K % 16 == 0;
  if (g.M > 64 && g.N > 64 && large >= (fits ? 64 : 128)) return PACKED;
  return g.M > 64 ? TALL_SPLIT : SMALL_SPLIT;
}
// [/configurations]

inline bool divides(int unit, const void* p) { return reinterpret_cast<size_t>(p) % unit == 0; }

// [tiles]
// How many slices of k let the tiles fill the GPU once; each of 4 k tiles at least.
template <class T>
int slices(const GemmArgs& g, bool split) {
  if (!split) return 1;
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const int tiles = ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN);
  return max(1, min(T::PER_SM * sms / tiles, ceil_div(g.K, BK) / 4));
}

template <class T>
cudaError_t run_tiles(const GemmArgs& g, bool split, cudaStream_t stream) {
  // Rows of A, B and C begin at multiples of 16 bytes.
  const bool vector =
      g.K % 4 == 0 && g.N % 4 == 0 && divides(16, g.A) && divides(16, g.B) && divides(16, g.C);
  const int slice_tiles = max(1, ceil_div(ceil_div(g.K, BK), slices<T>(g, split)));
  const int count = max(1, ceil_div(ceil_div(g.K, BK), slice_tiles));
  const cudaError_t done = launch(vector ? kernel<T, true> : kernel<T, false>,
                                  dim3(ceil_div(g.M, T::BM) * ceil_div(g.N, T::BN), count),
                                  dim3(T::THREADS), 0, stream, g, slice_tiles);
  return done != cudaSuccess || count == 1 ? done : launch_add_slices(g, count, stream);
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
  if (p.a)
    done =
        launch_pad(static_cast<const float*>(g.A), (float*)p.g.A, g.M, g.K, p.g.M, p.g.K, stream);
  if (p.b && done == cudaSuccess)
    done =
        launch_pad(static_cast<const float*>(g.B), (float*)p.g.B, g.K, g.N, p.g.K, p.g.N, stream);
  if (done == cudaSuccess) done = launch_sgemm_19_stream_k(p.g, stream);
  if (p.c && done == cudaSuccess)
    done = launch_unpad(static_cast<const float*>(p.g.C), g, p.g.N, stream);
  return done;
}
// [/packed]

}  // namespace sgemm_20_any_shape

inline size_t workspace_sgemm_20_any_shape(const GemmArgs& g) {
  using namespace sgemm_20_any_shape;
  if (g.M == 0 || g.N == 0) return 0;
  switch (choose(g)) {
    case PACKED:
      return Padded(g).bytes;
    case TALL_SPLIT:
      return slices_bytes(g, slices<Tall>(g, true));
    case SMALL_SPLIT:
      return slices_bytes(g, slices<Small>(g, true));
    case THIN:
      return thin::workspace(g);
    default:
      return 0;
  }
}

inline cudaError_t launch_sgemm_20_any_shape(const GemmArgs& g, cudaStream_t stream) {
  using namespace sgemm_20_any_shape;
  if (choose(g) == THIN && g.M > thin::ROWS) return cudaErrorInvalidValue;
  switch (choose(g)) {
    case PACKED:
      return run_packed(g, stream);
    case TALL:
      return run_tiles<Tall>(g, false, stream);
    case TALL_SPLIT:
      return run_tiles<Tall>(g, true, stream);
    case SMALL:
      return run_tiles<Small>(g, false, stream);
    case SMALL_SPLIT:
      return run_tiles<Small>(g, true, stream);
    default:
      return thin::run(g, g.N % 4 == 0 && divides(16, g.B), stream);
  }
}
