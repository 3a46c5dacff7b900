// probe_mma: what mma.sync gives on registers alone, and what is left of it when ldmatrix feeds it.
//
// Idea: a block an SM, WARPS warps, each with the accumulators of a WM x WN tile of C, as in a
//   GEMM. `registers` multiplies the same fragments over and over: the ceiling of every kernel on
//   mma.sync. `fed` loads all fragments from shared memory, those of the next k step while it
//   multiplies the current ones; no copies, no barriers. A warp reads 2 * 16 * (WM + WN) bytes for
//   2 * 16 * WM * WN FLOP, so at 128 bytes a clock shared memory allows 128 * WM * WN / (WM + WN)
//   FLOP per clock and SM. With COPIES the threads also copy as many bytes as the tiles of 64 k
//   have, like the loop of hgemm_18_wide_tile; nobody reads them, so there is no barrier.
//
// Operands are what `in` holds. Random numbers draw the power of real data, zeros do not.
#pragma once
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/smem.cuh>

#include "cycles.cuh"

namespace probe_mma {

constexpr int BK = 64;           // values of k a repeat: four k steps
constexpr int WARPS_N = 4;       // side by side along N
constexpr int K_STEP = 16;       // of mma.m16n8k16
constexpr int A_BYTES = 2 * BK;  // a row of A

// What the loop of `fed` copies besides. ZEROS: cp.async with a source of 0 bytes, which writes
// shared memory and reads nothing; what it does not cost is the way from the L2.
enum class Copies { NONE, FROM_L2, ZEROS };
constexpr int PLACES = 64;  // of a tile each in `in`, 3 MB of 128x256x64: they stay in the L2

// A warp's operands of one k step.
template <int WM, int WN>
struct Fragments {
  uint32_t a[WM / 16][4], b[WN / 8][2];
};

template <int WM, int WN>
using Accumulators = float[WM / 16][WN / 8][4];

// [multiply]
template <class T, int WM, int WN>
__device__ __forceinline__ void multiply(Accumulators<WM, WN>& acc, const Fragments<WM, WN>& f) {
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) mma_m16n8k16<T>(acc[i][j], f.a[i], f.b[j]);
}
// [/multiply]

template <int WM, int WN>
__device__ __forceinline__ float sum_of(const Accumulators<WM, WN>& acc) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) sum += acc[i][j][r];
  return sum;
}

// Thread t has the words t, t + THREADS, ... of `in`: first a, then b.
template <class T, int WM, int WN, int WARPS>
__global__ void __launch_bounds__(32 * WARPS, 1)
    registers(const uint32_t* in, void* out, int repeats) {
  const uint32_t* next = in + threadIdx.x;
  Fragments<WM, WN> f;
  for (auto& a : f.a)
    for (uint32_t& word : a) word = *next, next += 32 * WARPS;
  for (auto& b : f.b)
    for (uint32_t& word : b) word = *next, next += 32 * WARPS;
  Accumulators<WM, WN> acc = {};
  __syncthreads();
  // [registers]
  const long long start = clock64();
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < BK; k += K_STEP) multiply<T, WM, WN>(acc, f);
  }
  __syncthreads();
  // [/registers]
  leave(out, clock64() - start, sum_of<WM, WN>(acc));
}

// The block's tiles in shared memory: A is BM x BK, then B, BK x BN, both row-major. 16-byte piece
// c of row r stands at c ^ (r % 8), so the eight rows that ldmatrix reads at a time lie in all
// banks.
template <int WM, int WN, int WARPS>
struct Tiles {
  static_assert(WARPS % WARPS_N == 0 && WM % 16 == 0 && WN % 16 == 0, "whole fragments");
  static constexpr int BM = WM * WARPS / WARPS_N, BN = WN * WARPS_N;
  static constexpr int B_BYTES = 2 * BN;  // a row of B
  static constexpr int B_BEGIN = BM * A_BYTES, BYTES = B_BEGIN + BK * B_BYTES;
};

// Where a lane loads its rows of a warp's operands: lane l gives the address of row l % 16 of the
// 16 x 16 elements that ldmatrix.x4 loads, in their left (l < 16) or right half.
//   repeat   a warp reads the tile beside the one it read before: from equal addresses ptxas loads
//            once and keeps the fragments
//   k of A, n of B   16 elements are two pieces; where c has none of the bits that are added, an
//            XOR of the address
//   m of A, k of B   16 rows, which keep r % 8: a constant
template <int WM, int WN, int WARPS>
struct Loader {
  using Tile = Tiles<WM, WN, WARPS>;
  const uint32_t warp = threadIdx.x / 32, row = threadIdx.x % 16, half = threadIdx.x % 32 / 16;
  const uint32_t a_row, b_row;  // addresses of row `row`

  __device__ Loader(uint32_t tiles)
      : a_row(tiles + row * A_BYTES), b_row(tiles + Tile::B_BEGIN + row * Tile::B_BYTES) {}

  __device__ __forceinline__ void load(Fragments<WM, WN>& f, uint32_t repeat, int k) const {
    const uint32_t m = (warp / WARPS_N + repeat) * WM % Tile::BM;
    const uint32_t n = (warp + repeat) * WN % Tile::BN;
    const uint32_t a_addr = a_row + m * A_BYTES + (half ^ row % 8) * 16;
    const uint32_t b_addr = b_row + ((n / 8 + half) ^ row % 8) * 16;
    // [load]
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) ldmatrix_x4(f.a[i], (a_addr ^ (k * 2)) + i * 16 * A_BYTES);
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) {
      uint32_t r[4];
      ldmatrix_x4_trans(r, (b_addr ^ (j * 32)) + k * Tile::B_BYTES);
      f.b[2 * j][0] = r[0], f.b[2 * j][1] = r[1];
      f.b[2 * j + 1][0] = r[2], f.b[2 * j + 1][1] = r[3];
    }
    // [/load]
  }
};

// A tile of BYTES to `to_addr`: each copy of a warp is 512 bytes in a row, in 4 wavefronts. A block
// takes another place of `in` with each repeat. The copies before have had the products of a whole
// tile to arrive; they are waited for since these write to the same bytes.
template <Copies COPIES, int THREADS, int BYTES>
__device__ __forceinline__ void copy_tile(uint32_t to_addr, const uint4* in, int repeat) {
  in += (blockIdx.x + repeat) % PLACES * (BYTES / 16) + threadIdx.x;
  to_addr += threadIdx.x * 16;
  cp_async_wait_all();
#pragma unroll
  for (int i = 0; i < BYTES / 16; i += THREADS)
    if constexpr (COPIES == Copies::ZEROS)
      cp_async_cg_zfill(to_addr + i * 16, in + i, 0);
    else
      cp_async_cg(to_addr + i * 16, in + i);
}

template <class T, int WM, int WN, int WARPS, Copies COPIES>
__global__ void __launch_bounds__(32 * WARPS, 1) fed(const uint4* in, void* out, int repeats) {
  constexpr int BYTES = Tiles<WM, WN, WARPS>::BYTES;
  __shared__ __align__(128) uint4 tiles[BYTES / 16];
  extern __shared__ __align__(128) unsigned char smem[];  // BYTES, if there are copies
  fill<32 * WARPS, BYTES>(tiles, in);
  const Loader<WM, WN, WARPS> loader(smem_addr(tiles));
  Accumulators<WM, WN> acc = {};
  Fragments<WM, WN> f[2];
  __syncthreads();
  // [fed]
  const long long start = clock64();
  loader.load(f[0], 0, 0);
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < BK; k += K_STEP) {
      const int next = k + K_STEP;
      loader.load(f[next / K_STEP % 2], r + next / BK, next % BK);
      if (COPIES != Copies::NONE && k == 0)
        copy_tile<COPIES, 32 * WARPS, BYTES>(smem_addr(smem), in, r);
      multiply<T, WM, WN>(acc, f[k / K_STEP % 2]);
    }
  }
  __syncthreads();
  // [/fed]
  leave(out, clock64() - start, sum_of<WM, WN>(acc));
  if (COPIES != Copies::NONE) cp_async_wait_all();
}

}  // namespace probe_mma

// `repeats` times BK values of k; `in` has 48 KB of elements of type T.
template <class T, int WM, int WN, int WARPS>
cudaError_t launch_probe_mma(const ProbeArgs& p, cudaStream_t stream) {
  return launch(probe_mma::registers<T, WM, WN, WARPS>, dim3(sm_count()), dim3(32 * WARPS), 0,
                stream, static_cast<const uint32_t*>(p.in), p.out, p.repeats);
}

template <class T, int WM, int WN, int WARPS>
cudaError_t launch_probe_ldmatrix(const ProbeArgs& p, cudaStream_t stream) {
  constexpr auto kernel = probe_mma::fed<T, WM, WN, WARPS, probe_mma::Copies::NONE>;
  return launch(kernel, dim3(sm_count()), dim3(32 * WARPS), 0, stream,
                static_cast<const uint4*>(p.in), p.out, p.repeats);
}

// `in` has PLACES tiles, 3 MB with 8 warps of 64x64.
template <class T, int WM, int WN, int WARPS, probe_mma::Copies COPIES>
cudaError_t launch_probe_copies(const ProbeArgs& p, cudaStream_t stream) {
  constexpr auto kernel = probe_mma::fed<T, WM, WN, WARPS, COPIES>;
  constexpr int BYTES = probe_mma::Tiles<WM, WN, WARPS>::BYTES;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
  if (error != cudaSuccess) return error;
  return launch(kernel, dim3(sm_count()), dim3(32 * WARPS), BYTES, stream,
                static_cast<const uint4*>(p.in), p.out, p.repeats);
}
