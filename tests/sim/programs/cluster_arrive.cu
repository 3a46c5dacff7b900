// Each block of a cluster arrives at the mbarriers of all its blocks, its own among them.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

__device__ uint32_t address_of(const void* at) { return uint32_t(__cvta_generic_to_shared(at)); }

__device__ void arrive(uint64_t* bar, uint32_t rank) {
  asm volatile(
      "{ .reg .b32 remote;\n"
      "  mapa.shared::cluster.u32 remote, %0, %1;\n"
      "  mbarrier.arrive.shared::cluster.b64 _, [remote], %2; }\n" ::"r"(address_of(bar)),
      "r"(rank), "r"(1));
}

__global__ void __cluster_dims__(2, 1, 1) meet(int* out) {
  __shared__ __align__(8) uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&bar)), "r"(2));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive;\n" ::);
  asm volatile("barrier.cluster.wait;\n" ::);
  if (threadIdx.x < 2) arrive(&bar, threadIdx.x);
  asm volatile(
      "{ .reg .pred over;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again; }\n" ::"r"(address_of(&bar)),
      "r"(0));
  asm volatile("barrier.cluster.arrive;\n" ::);
  asm volatile("barrier.cluster.wait;\n" ::);
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

int main() {
  int* out;
  cudaMallocManaged(&out, 2 * sizeof(int));
  meet<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  printf(out[0] == 1 && out[1] == 1 ? "right\n" : "wrong\n");
}
