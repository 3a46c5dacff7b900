// One mistake a case: `broken CASE`.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void missing_barrier(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];       // [race write]
  x[threadIdx.x] = tile[63 - threadIdx.x];  // [race read]
}
__global__ void past_the_end(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 0;  // [outside]
}
__global__ void fine(float* x) { x[threadIdx.x] = 1; }
__global__ void asserts(int n) {
  assert(n < 3);  // [assertion]
}
__global__ void unknown() {
  asm volatile("tcgen05.fence::after_thread_sync;");  // [unknown]
}
__global__ void nested() {
  cudaDeviceSynchronize();  // [nested]
}
__global__ void frees(float* x) {
  free(x);  // [foreign-free]
}
__global__ void endless(volatile int* x) {
  while (*x != 1) {
  }
}

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));  // [allocation]
  cudaMemset(x, 0, 64 * sizeof(float));
  if (wanted == "fine") fine<<<1, 64>>>(x);
  if (wanted == "race") missing_barrier<<<1, 64>>>(x);
  if (wanted == "outside") past_the_end<<<1, 128>>>(x, 64);
  if (wanted == "assertion") asserts<<<1, 1>>>(3);
  if (wanted == "unknown") unknown<<<1, 32>>>();
  if (wanted == "nested") nested<<<1, 2>>>();
  if (wanted == "foreign-free") frees<<<1, 1>>>(x);
  if (wanted == "refused") fine<<<1, 2048>>>(x);  // [refused]
  if (wanted == "host") x[0] = 1;                 // [host]
  if (wanted == "exit") exit(3);
  if (wanted == "abort") abort();
  if (wanted == "freed") {
    cudaFree(x);
    fine<<<1, 64>>>(x);
  }
  if (wanted == "endless") endless<<<1, 32>>>(reinterpret_cast<int*>(x));
  if (wanted == "host-waits") {
    int* latch;
    cudaMallocHost(&latch, sizeof *latch);
    endless<<<1, 32>>>(latch);
    *latch = 1;
  }
  if (wanted == "loop")
    for (volatile int forever = 1; forever;) {
    }
  if (wanted == "crash") *reinterpret_cast<volatile int*>(8) = 1;
  printf("done\n");
  return 0;
}
