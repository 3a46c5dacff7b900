// probe_wgmma: what the tensor cores give if wgmma reads both operands from shared memory.
//
// Idea: a block an SM, two warpgroups, each multiplies its own 64 rows of A by the same 256 columns
//   of B, over and over. One group of wgmma stays in flight while the next is issued, so the tensor
//   cores never wait for an instruction. No copies, no barriers. The ceiling of every GEMM in
//   16-bit types on Hopper; only for sm_90a.
//
// Operands are what `in` holds. Random numbers draw the power of real data, zeros do not.
#pragma once
#include <ptx/fence.cuh>
#include <ptx/smem.cuh>
#include <ptx/wgmma.cuh>

#include "../common/tile/wgmma_descriptor.cuh"
#include "cycles.cuh"

namespace probe_wgmma {

constexpr int WARPGROUPS = 2, THREADS = 128 * WARPGROUPS;
constexpr int WM = 64, BN = 256, BK = 64;  // BK: values of k a repeat, four k steps
constexpr int K_STEP = 16, SPAN = 2 * BK;  // rows of 128 bytes, swizzled
constexpr int A_BYTES = WM * SPAN, BYTES = WARPGROUPS * A_BYTES + BN * SPAN;

// Both tiles K-major: A of each warpgroup, then B.
template <class T>
__global__ void __launch_bounds__(THREADS, 1) kernel(const uint4* in, void* out, int repeats) {
  __shared__ __align__(1024) uint4 tiles[BYTES / 16];
  fill<THREADS, BYTES>(tiles, in);
  const uint32_t begin = smem_addr(tiles);
  const uint64_t a = wgmma_k_major<SPAN>(begin + threadIdx.x / 128 * A_BYTES);
  const uint64_t b = wgmma_k_major<SPAN>(begin + WARPGROUPS * A_BYTES);
  float acc[BN / 2] = {};
  fence_proxy_async();
  __syncthreads();
  // [loop]
  const long long start = clock64();
  for (int r = 0; r < repeats; ++r) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK; k += K_STEP)
      wgmma_m64k16<BN, T>(acc, a + k * 2 / 16, b + k * 2 / 16, 1);
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  __syncthreads();
  // [/loop]
  const long long cycles = clock64() - start;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < BN / 2; ++i) sum += acc[i];
  leave(out, cycles, sum);
}

}  // namespace probe_wgmma

// `repeats` times BK values of k; `in` has 48 KB of elements of type T.
template <class T>
cudaError_t launch_probe_wgmma(const ProbeArgs& p, cudaStream_t stream) {
  using namespace probe_wgmma;
  return launch(kernel<T>, dim3(sm_count()), dim3(THREADS), 0, stream,
                static_cast<const uint4*>(p.in), p.out, p.repeats);
}
