"""Kernels as a reader writes them into a cell."""

# A tile of A and one of B in shared memory, 32 deep; blocks of 32x32 threads.
TILED = """\
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[32][32], sB[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += 32) {
    sA[y][x] = A[row * K + k0 + x];
    sB[y][x] = B[(k0 + y) * N + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += sA[y][k] * sB[k][x];
    __syncthreads();
  }
  C[row * N + col] = sum;
}
"""
