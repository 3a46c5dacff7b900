// Turns A round into panels of BM rows, k by k: panels[(m / BM * K + k) * BM + m % BM] = A[m][k].
#pragma once
#include <ptx/grid.cuh>

#include "../launch/host.cuh"
#include "../elements/vec.cuh"

constexpr int PACK_THREADS = 256, PACK_K = 32;

// A block turns BM x 32 elements round. In row k of its buffer, element m is kept in column
// m ^ (k / 4 * 4): the 32 stores of a warp (4 rows of A, 8 groups of k) then hit 32 banks, and four
// neighbours along m stay four. The first block also clears `count` counters for the kernel that
// follows, which saves a launch.
template <int BM>
__global__ void __launch_bounds__(PACK_THREADS)
    pack_panels(const float* A, float* panels, int K, int* counters, int count) {
  __shared__ __align__(16) float turned[PACK_K][BM];
  grid_launch_dependents();  // the product is launched meanwhile, and waits
  const int tid = threadIdx.x, k0 = blockIdx.x * PACK_K;
  if (blockIdx.x == 0 && blockIdx.y == 0)
    for (int i = tid; i < count; i += PACK_THREADS) counters[i] = 0;
  const int row = tid / 8, col = tid % 8 * 4;  // 8 threads hold 32 floats of a row
  const int depth = min(PACK_K, K - k0);
  if (col < depth) {
#pragma unroll
    for (int i = 0; i < BM; i += PACK_THREADS / 8) {
      const float4 a = load4(A + (size_t)(blockIdx.y * BM + row + i) * K + k0 + col);
      const int m = (row + i) ^ col;
      turned[col + 0][m] = a.x;
      turned[col + 1][m] = a.y;
      turned[col + 2][m] = a.z;
      turned[col + 3][m] = a.w;
    }
  }
  __syncthreads();
  float* panel = panels + ((size_t)blockIdx.y * K + k0) * BM;
  for (int i = tid * 4; i < depth * BM; i += PACK_THREADS * 4) {
    const int k = i / BM, m = i % BM;
    store4(panel + i, load4(&turned[k][m ^ (k / 4 * 4)]));
  }
}

inline size_t panel_bytes(const GemmArgs& g) { return (size_t)g.M * g.K * sizeof(float); }

// M is a multiple of BM, K of 4; A and the panels are 16-byte aligned.
template <int BM>
cudaError_t launch_pack_panels(const GemmArgs& g, float* panels, cudaStream_t stream,
                               int* counters = nullptr, int count = 0) {
  if (g.K == 0) return cudaSuccess;
  return launch(pack_panels<BM>, dim3(ceil_div(g.K, PACK_K), g.M / BM), dim3(PACK_THREADS), 0,
                stream, static_cast<const float*>(g.A), panels, g.K, counters, count);
}
