// Neighboring accesses of a thread, some of which nvcc merges. An argument: the kernel.
#include <cstdio>

__global__ void rows(float* out) {
  __shared__ float tile[64][8];
  const int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) tile[t][i] = float(t + i);  // [stores]
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += tile[63 - t][i];  // [loads]
  for (int i = 0; i < 8; ++i) sum += tile[i][t % 8];   // [apart]
  for (int i = 1; i < 6; ++i) sum += tile[t][i];       // [unaligned]
  out[t] = sum;
}

__global__ void barriers(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = float(t);
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    __syncthreads();
    for (int j = 0; j < 2; ++j) sum += tile[4 * (t / 4) + i];  // [separate]
  }
  out[t] = sum;
}

int main(int, char** given) {
  float* out;
  cudaMallocManaged(&out, 64 * sizeof(float));
  if (given[1][0] == 'r')
    rows<<<1, 64>>>(out);
  else
    barriers<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  printf("%g\n", out[3]);
}
