// Loops that wait for a change of memory: those that get it, and those that never do.
#include <cstdio>
#include <cstring>

__device__ int taken;
__device__ volatile int go;

// The other warp ends without having set the flag, if it is not to.
__global__ void flag_of_a_warp(int* out, bool sets) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;  // [clears]
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {  // [flag]
    }
    out[0] = 1;
  } else if (threadIdx.x == 32 && sets) {
    flag = 1;
  }
}

// It would set the flag, but behind a barrier that those who poll never reach.
__global__ void behind_a_barrier(int* out, bool sets) {
  __shared__ int flag[4];
  if (threadIdx.x < 4) flag[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (atomicAdd(&flag[2], 0) == 0) {  // [atomic]
    }
    out[threadIdx.x] = 1;
  } else if (sets) {
    atomicExch(&flag[2], 1);
  }
  __syncthreads();  // [barrier]
  if (threadIdx.x == 32) atomicExch(&flag[2], 1);
}

// Two places that are read in turns.
__global__ void queue(int* out, bool sets) {
  __shared__ volatile int head, tail;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (head == tail) {  // [queue]
    }
    out[0] = 1;
  } else if (threadIdx.x == 40 && sets) {
    tail = 1;
  }
}

// A lock that its first owner keeps, if it does not give it back.
__global__ void lock(int* out, bool gives_back) {
  if (threadIdx.x) return;
  while (atomicCAS(&taken, 0, 1) != 0) {  // [lock]
  }
  __threadfence();
  out[0] += 1;
  __threadfence();
  if (gives_back) atomicExch(&taken, 0);
}

// It counts how often it has looked: each time it is in another state.
__global__ void counts(int* out) {
  int looks = 0;
  while (go == 0) ++looks;  // [counts]
  out[threadIdx.x] = looks;
}

// These end by themselves, though nobody changes anything.
__global__ void ends(int* out) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 5;
  __syncthreads();
  for (int i = 0; i < 3000; ++i) atomicMax(&most, i % 5);
  for (int i = 0; i < 300; ++i) atomicMin(&out[1], 7);
  int looks = 0;
  while (go == 0 && ++looks < 500) {
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = looks + most;
}

// One warp hands another a value in shared memory, by a flag; of the two fences one may be missing.
__global__ void message(int* out, bool releases, bool acquires) {
  __shared__ volatile int flag;
  __shared__ int counted, data[2];
  if (threadIdx.x == 0) flag = counted = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data[0] = 7;  // [volatile data]
    if (releases) __threadfence_block();
    flag = 1;
    data[1] = 8;  // [atomic data]
    if (releases) __threadfence_block();
    atomicExch(&counted, 1);
  } else if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    if (acquires) __threadfence_block();
    out[0] = data[0];
    while (atomicAdd(&counted, 0) == 0) {
    }
    if (acquires) __threadfence_block();
    out[0] += data[1];
  }
}

// A sum under a lock in shared memory, and one in global memory.
__global__ void locked_sums(int* out, bool fences) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  if (fences) __threadfence();
  sum += 1;              // [shared sum]
  out[blockIdx.x] += 1;  // [global sum]
  if (fences) __threadfence();
  atomicExch(&lock, 0);
}

// Each block waits for the other's flag before it sets its own.
__global__ void crossed(volatile int* flags, int* out) {
  if (threadIdx.x) return;
  while (flags[1 - blockIdx.x] == 0) {  // [crossed]
  }
  flags[blockIdx.x] = 1;
  out[blockIdx.x] = 1;
}

int main(int count, char** words) {
  const char* const wanted = count > 1 ? words[1] : "";
  const bool well = count > 2;
  const auto is = [&](const char* name) { return !std::strcmp(wanted, name); };
  int *out, *flags;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  cudaMallocManaged(&flags, 8);
  flags[0] = flags[1] = 0;
  if (is("flag")) flag_of_a_warp<<<1, 64>>>(out, well);
  if (is("atomic")) behind_a_barrier<<<1, 64>>>(out, well);
  if (is("queue")) queue<<<1, 64>>>(out, well);
  if (is("lock")) lock<<<3, 32>>>(out, well);
  if (is("counts")) counts<<<1, 32>>>(out);
  if (is("ends")) ends<<<1, 64>>>(out);
  if (is("message")) message<<<1, 64>>>(out, words[2][0] == 'y', words[2][1] == 'y');
  if (is("sums")) locked_sums<<<2, 64>>>(out, well);
  if (is("crossed")) crossed<<<2, 32>>>(flags, out);
  if (is("crossed") && well) flags[0] = 1;
  cudaDeviceSynchronize();
  int result = -1;
  cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", result);
}
