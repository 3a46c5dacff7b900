// A product with one row: y = x B, bound by the bytes of B. A block has a few columns and many rows
// of B at a time, so one pass needs neither slices of k nor a second kernel where C is long enough.
#pragma once
#include <type_traits>

#include "../elements/epilogue.cuh"
#include "../launch/device_attribute.cuh"
#include "../launch/host.cuh"
#include "narrow.cuh"
#include "split_k.cuh"

namespace single_row {

constexpr int THREADS = 512;

// WIDTH: neighbours that a thread reads of a row, 4 if B allows float4. LANES threads have a row's
// part, the other groups of threads the rows below. UNROLL: rows of a thread on their way.
template <int WIDTH_, int UNROLL_>
struct Shape {
  static constexpr int WIDTH = WIDTH_, LANES = WIDTH == 4 ? 16 : 32, UNROLL = UNROLL_;
  static constexpr int COLUMNS = LANES * WIDTH, GROUPS = THREADS / LANES;
};

// Columns COLUMNS * blockIdx.x on, of k slice blockIdx.y. One slice writes C, several leave their
// sums to add_slices.
template <class S>
__global__ void __launch_bounds__(THREADS) multiply(GemmArgs g, int slice) {
  constexpr int WIDTH = S::WIDTH, LANES = S::LANES, GROUPS = S::GROUPS;
  __shared__ __align__(16) float sums[GROUPS][S::COLUMNS];
  grid_launch_dependents();  // add_slices, if there is one, is launched meanwhile
  const int tid = threadIdx.x, group = tid / LANES, lane = tid % LANES, N = g.N;
  const int k0 = blockIdx.y * slice, depth = min(slice, g.K - k0);
  const int n = (blockIdx.x * LANES + lane) * WIDTH;
  float acc[WIDTH] = {};
  if (n < N) {
    const float* A = static_cast<const float*>(g.A) + k0 + group;
    const float* B = static_cast<const float*>(g.B) + (size_t)(k0 + group) * N + n;
    // [batch]
    auto batch = [&](int k, auto guarded) {  // rows k + group, GROUPS further, and so on
      float a[S::UNROLL], b[S::UNROLL][WIDTH];
      constexpr bool GUARDED = decltype(guarded)::value;
      auto inside = [&](int u) { return !GUARDED || k + group + u * GROUPS < depth; };
#pragma unroll
      for (int u = 0; u < S::UNROLL; ++u)
        if (inside(u)) {
          narrow::read(b[u], B + (size_t)u * GROUPS * N);
          a[u] = A[u * GROUPS];
        }
#pragma unroll
      for (int u = 0; u < S::UNROLL; ++u)
#pragma unroll
        for (int w = 0; w < WIDTH; ++w)
          if (inside(u)) acc[w] += a[u] * b[u][w];
    };
    constexpr int BATCH = S::UNROLL * GROUPS;
    int k = 0;
    for (; k + BATCH <= depth; k += BATCH, A += BATCH, B += (size_t)BATCH * N)
      batch(k, std::false_type());
    if (k < depth) batch(k, std::true_type());
    // [/batch]
  }
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) sums[group][lane * WIDTH + w] = acc[w];
  __syncthreads();
  const int column = blockIdx.x * S::COLUMNS + tid;
  if (tid >= S::COLUMNS || column >= N) return;
  float sum = 0.0f;
#pragma unroll 8
  for (int i = 0; i < GROUPS; ++i) sum += sums[i][tid];
  if (gridDim.y == 1)
    write_c(static_cast<float*>(g.C) + column, sum, g.alpha, g.beta);
  else
    static_cast<float*>(g.workspace)[(size_t)blockIdx.y * N + column] = sum;
}

// One slice, if its blocks are nearly enough for the SMs: others cost a second kernel.
template <class S>
int slices(const GemmArgs& g) {
  const int blocks = device_attribute(cudaDevAttrMultiProcessorCount);
  const int columns = ceil_div(g.N, S::COLUMNS);
  if (columns * 4 >= blocks) return 1;
  return max(1, min(blocks / columns, ceil_div(g.K, S::GROUPS * S::UNROLL)));
}

template <class S>
cudaError_t run_shape(const GemmArgs& g, cudaStream_t stream) {
  const int slice = max(1, ceil_div(g.K, slices<S>(g))), count = max(1, ceil_div(g.K, slice));
  const cudaError_t done = launch(multiply<S>, dim3(ceil_div(g.N, S::COLUMNS), count),
                                  dim3(THREADS), 0, stream, g, slice);
  return done != cudaSuccess || count == 1
             ? done
             : launch_add_slices<float>(g.workspace, g, count, stream);
}

inline size_t workspace(const GemmArgs& g) {
  return slices_bytes(g, max(slices<Shape<4, 8>>(g), slices<Shape<1, 16>>(g)));
}

// vector: N is a multiple of 4 and B 16-byte aligned. Where k is long, more loads are on their way.
inline cudaError_t run(const GemmArgs& g, bool vector, cudaStream_t stream) {
  if (!vector) return run_shape<Shape<1, 16>>(g, stream);
  return g.K >= 4096 ? run_shape<Shape<4, 16>>(g, stream) : run_shape<Shape<4, 8>>(g, stream);
}

}  // namespace single_row
