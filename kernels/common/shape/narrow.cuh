// A product with at most 16 columns: every value of A is used 16 times at most, so A's bytes are
// the limit. The lanes of a warp go along k, where a row of A lies in one piece, and a block keeps
// B's columns for a slice of k in shared memory, one after the other.
#pragma once
#include <type_traits>

#include "../elements/epilogue.cuh"
#include "../launch/device_attribute.cuh"
#include "../launch/host.cuh"
#include "../launch/refuse.cuh"
#include "split_k.cuh"

namespace narrow {

constexpr int MAX_COLUMNS = 16, THREADS = 256, WARPS = THREADS / 32;
constexpr int PANEL = 8192;  // floats of B that a block keeps

// COLS: at least N. WIDTH: neighbours that a lane reads of A, 4 if A allows float4. A warp has ROWS
// rows at a time, and UNROLL loads of each on their way.
template <int COLS_, int WIDTH_>
struct Shape {
  static constexpr int COLS = COLS_, WIDTH = WIDTH_;
  static constexpr int ROWS = COLS == 1 ? 1 : 4,
                       UNROLL = (COLS == 1 ? 8 : 2) * (WIDTH == 4 ? 1 : 4);
  static constexpr int SUMS = ROWS * COLS, STEP = 32 * WIDTH;
  static constexpr int SLICE = COLS == 1 ? 1 << 30 : PANEL / COLS, LD = PANEL / COLS + 4;
  static constexpr int PER_SM = COLS == 1 ? 4 : COLS <= 4 ? 3 : 2;  // blocks
};

template <int WIDTH>
__device__ __forceinline__ void read(float (&r)[WIDTH], const float* p) {
  if constexpr (WIDTH == 4)
    unpack4(r, load4(p));
  else
    r[0] = *p;
}

// [reduce]
// Adds COUNT sums up over the lanes of a warp. At each step a lane keeps half of what it has, and
// gives the other half to the lane that keeps that one: 31 shuffles for 32 sums, not 160. In the
// end lane l has sum l * COUNT / 32, and with 64 sums the next one, too.
template <int COUNT, int LANES = 16>
__device__ __forceinline__ void reduce(float* sums, int lane_id) {
  if constexpr (LANES > 0) {
    const bool upper = lane_id & LANES;
    if constexpr (COUNT > 1) {
#pragma unroll
      for (int i = 0; i < COUNT / 2; ++i) {
        const float gives = upper ? sums[i] : sums[i + COUNT / 2];
        const float keeps = upper ? sums[i + COUNT / 2] : sums[i];
        sums[i] = keeps + __shfl_xor_sync(0xffffffffu, gives, LANES);
      }
      reduce<COUNT / 2, LANES / 2>(sums, lane_id);
    } else {
      sums[0] += __shfl_xor_sync(0xffffffffu, sums[0], LANES);
      reduce<1, LANES / 2>(sums, lane_id);
    }
  }
}
// [/reduce]

// Rows block_rows * blockIdx.x on, of k slice blockIdx.y. One slice writes C, several leave their
// sums to add_slices: sums[slice][row][column].
template <class S>
__global__ void __launch_bounds__(THREADS, S::PER_SM)
    multiply(GemmArgs g, int block_rows, int slice) {
  constexpr int COLS = S::COLS, ROWS = S::ROWS, WIDTH = S::WIDTH, SUMS = S::SUMS;
  __shared__ __align__(16) float panel[COLS == 1 ? 4 : COLS * S::LD];
  grid_launch_dependents();  // add_slices, if there is one, is launched meanwhile
  const int tid = threadIdx.x, lane_id = tid % 32, N = g.N;
  const int k0 = blockIdx.y * slice, depth = min(slice, g.K - k0);
  const float* B = static_cast<const float*>(g.B) + (size_t)k0 * N;
  if constexpr (COLS > 1) {
    for (int i = tid; i < depth * COLS; i += THREADS) {
      const int k = i / COLS, n = i % COLS;
      panel[n * S::LD + k] = n < N ? B[k * N + n] : 0.0f;
    }
    __syncthreads();
  }
  const float* column = COLS == 1 ? B : panel;

  const int first = blockIdx.x * block_rows, end = first + min(block_rows, g.M - first);
  for (int m = first + tid / 32 * ROWS; m < end; m += WARPS * ROWS) {
    const float* gA[ROWS];  // rows behind the end are the last one once more, and not written
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
      gA[i] = static_cast<const float*>(g.A) + (size_t)min(m + i, g.M - 1) * g.K + k0;
    float acc[SUMS] = {};
    // [batch]
    auto batch = [&](int k, auto guarded) {
      float a[S::UNROLL][ROWS][WIDTH];
      constexpr bool GUARDED = decltype(guarded)::value;
      auto inside = [&](int u) { return !GUARDED || k + u * S::STEP < depth; };
#pragma unroll
      for (int u = 0; u < S::UNROLL; ++u)
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
          if (inside(u)) read(a[u][i], gA[i] + k + u * S::STEP);
#pragma unroll
      for (int u = 0; u < S::UNROLL; ++u)
#pragma unroll
        for (int j = 0; j < COLS; ++j)
          if (inside(u)) {
            float b[WIDTH];
            read(b, column + j * S::LD + k + u * S::STEP);
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
#pragma unroll
              for (int w = 0; w < WIDTH; ++w) acc[i * COLS + j] += a[u][i][w] * b[w];
          }
    };
    int k = lane_id * WIDTH;
    constexpr int BATCH = S::UNROLL * S::STEP;
    for (int left = depth; left >= BATCH; left -= BATCH, k += BATCH) batch(k, std::false_type());
    if (depth % BATCH > 0) batch(k, std::true_type());
    // [/batch]
    reduce<SUMS>(acc, lane_id);
    constexpr int MINE = SUMS > 32 ? SUMS / 32 : 1, SHARE = SUMS < 32 ? 32 / SUMS : 1;
#pragma unroll
    for (int i = 0; i < MINE; ++i) {
      const int sum = lane_id / SHARE * MINE + i, row = m + sum / COLS, n = sum % COLS;
      if (lane_id % SHARE > 0 || row >= end || n >= N) continue;
      const size_t at = (size_t)row * N + n;
      if (gridDim.y == 1)
        write_c(static_cast<float*>(g.C) + at, acc[i], g.alpha, g.beta);
      else
        static_cast<float*>(g.workspace)[(size_t)blockIdx.y * g.M * N + at] = acc[i];
    }
  }
}

// How the rows are shared out to blocks, and k is cut into slices.
template <class S>
struct Plan {
  int block_rows, row_blocks, slice, slices;

  // All blocks run at once, if that leaves one for each slice that has to be. More slices than
  // that cost a second launch, and are taken where less than half of the blocks would run.
  explicit Plan(const GemmArgs& g) {
    const int blocks = S::PER_SM * device_attribute(cudaDevAttrMultiProcessorCount);
    const int groups = ceil_div(g.M, WARPS * S::ROWS);
    slices = ceil_div(g.K, S::SLICE);
    if (groups * slices * 2 < blocks)
      slices = max(slices, min(blocks / groups, ceil_div(g.K, S::UNROLL * S::STEP)));
    slice = ceil_div(ceil_div(g.K, max(1, slices)), 4) * 4;  // float4 of A
    slices = max(1, ceil_div(g.K, max(1, slice)));
    const int each = ceil_div(groups, max(1, blocks / slices));
    block_rows = each * WARPS * S::ROWS, row_blocks = ceil_div(g.M, block_rows);
  }
};

template <class S>
cudaError_t run_shape(const GemmArgs& g, cudaStream_t stream) {
  const Plan<S> plan(g);
  const cudaError_t done = launch(multiply<S>, dim3(plan.row_blocks, plan.slices), dim3(THREADS), 0,
                                  stream, g, plan.block_rows, plan.slice);
  return done != cudaSuccess || plan.slices == 1
             ? done
             : launch_add_slices<float>(g.workspace, g, plan.slices, stream);
}

// f(Shape) for the shape that takes these columns.
template <int WIDTH, class F>
auto with_shape(int columns, F f) {
  if (columns == 1) return f(Shape<1, WIDTH>());
  if (columns == 2) return f(Shape<2, WIDTH>());
  if (columns <= 4) return f(Shape<4, WIDTH>());
  return columns <= 8 ? f(Shape<8, WIDTH>()) : f(Shape<16, WIDTH>());
}

template <class F>
auto with_shape(const GemmArgs& g, F f) {
  const bool vector = g.K % 4 == 0 && reinterpret_cast<size_t>(g.A) % 16 == 0 &&
                      (g.N > 1 || reinterpret_cast<size_t>(g.B) % 16 == 0);
  return vector ? with_shape<4>(g.N, f) : with_shape<1>(g.N, f);
}

inline size_t workspace(const GemmArgs& g) {
  const int slices = with_shape(g, [&](auto s) { return Plan<decltype(s)>(g).slices; });
  return slices > 1 ? slices_bytes(g, slices) : 0;
}

// More columns than MAX_COLUMNS are refused.
inline cudaError_t run(const GemmArgs& g, cudaStream_t stream) {
  if (g.N > MAX_COLUMNS)
    return refuse(cudaErrorInvalidValue,
                  "N is %d, and narrow takes at most %d columns; use another config", g.N,
                  MAX_COLUMNS);
  return with_shape(g, [&](auto s) { return run_shape<decltype(s)>(g, stream); });
}

}  // namespace narrow
