// atomicExch with and without its result, and loops of atomics. An argument: the kernel.
#include <cstdio>

__global__ void counted(unsigned most, unsigned* out) {
  __shared__ unsigned hits;
  if (most) atomicExch(&hits, 0);
  __syncthreads();
  while (atomicAdd(&hits, 1) < most) {  // [counted]
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = hits;
}

// No barrier follows the last access to shared memory.
__global__ void unfollowed(unsigned most, unsigned* out) {
  __shared__ unsigned hits;
  atomicExch(&hits, 0);
  __syncthreads();
  while (atomicAdd(&hits, 1) < most) {
  }
  out[32 * blockIdx.x + threadIdx.x] = 1;
}

__global__ void taken(unsigned* out) {
  __shared__ unsigned hits;
  out[threadIdx.x] = atomicExch(&hits, 0);  // [taken]
}

// The lock is never free again.
__global__ void locked(unsigned* out) {
  __shared__ unsigned lock;
  atomicExch(&lock, 0);
  __syncthreads();
  while (atomicExch(&lock, 1) != 0) {  // [locked]
  }
  out[threadIdx.x] = lock;
}

int main(int, char** given) {
  unsigned* out;
  cudaMallocManaged(&out, 32 * 8 * sizeof(unsigned));
  const char which = given[1][0];
  if (which == 'c') counted<<<8, 32>>>(1000, out);
  if (which == 'u') unfollowed<<<8, 32>>>(1000, out);
  if (which == 'm') counted<<<1, 32>>>(4000000000u, out);
  if (which == 't') taken<<<1, 32>>>(out);
  if (which == 'l') locked<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  printf("%u\n", *out);
}
