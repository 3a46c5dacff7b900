// A warpgroup's part of C, by wgmma out of stages that the copy engine fills.
#pragma once
#include <ptx/wgmma.cuh>

#include "../launch/host.cuh"
#include "stage_operand.cuh"

// ROWS x BN of C, from row m of the tile on. A stage holds BM rows of A, then BN columns of B. In
// memory neighbours of A are along k, those of B are columns, and it is the same here: A is
// K-major, B is MN-major. Where LAYOUT has a matrix turned, it is the other way round.
template <class T, int BM, int ROWS, int BN, int LAYOUT = 0>
struct WarpgroupTile {
  using A = StageOperand<(LAYOUT & TURNED_A) != 0>;
  using B = StageOperand<(LAYOUT & TURNED_B) == 0>;
  static constexpr int STEPS = 64 / 16, HEIGHT = ROWS / 64;  // k steps of a stage; instructions
  float acc[HEIGHT][BN / 2];                                 // laid out as wgmma.cuh says
  uint64_t a, b;                                             // descriptors of stage 0

  __device__ WarpgroupTile(uint32_t stage_addr, int m)
      : a(wgmma_descriptor<128>(stage_addr + m * 128, A::LEADING_BYTES, A::STRIDE_BYTES)),
        b(wgmma_descriptor<128>(stage_addr + BM * 128, B::LEADING_BYTES, B::STRIDE_BYTES)) {}
  // All sums of a thread in one row.
  using Sums = float[HEIGHT * BN / 2];
  __device__ __forceinline__ Sums& all() { return reinterpret_cast<Sums&>(acc); }
  __device__ __forceinline__ void clear() { wgmma_clear(all()); }
  // Starts the products of a k tile, as a group of wgmma. offset: of its stage, in bytes.
  // adds: the products are added to the sums; else they replace them.
  __device__ __forceinline__ void start(int offset, bool adds) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < STEPS; ++step)
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i)
        wgmma_m64k16<BN, T, A::MN, B::MN>(acc[i],
                                          a + (offset + i * A::BOX_BYTES) / 16 + step * A::NEXT_K,
                                          b + offset / 16 + step * B::NEXT_K, step > 0 || adds);
    wgmma_commit();
  }

  // Starts the products of `depth` k tiles, in the next stages of the ring. While those of a tile
  // run, the ones of the next are started: the tensor cores never wait for an instruction.
  // `release` is given the address of the mbarrier of a stage that has been read; that of the last
  // one is returned. Beside the products of the first PIECES tiles, or before them if there are
  // fewer, between(0), between(1), ... are done.
  template <int PIECES, class Ring, class Release, class Between>
  __device__ __forceinline__ uint32_t start_tiles(Ring& ring, int depth, Release release,
                                                  Between between) {
    uint32_t used_addr = 0;
    int k_tile = 0;
    if (PIECES > 0 && depth >= PIECES) {
#pragma unroll
      for (int piece = 0; piece < PIECES; ++piece) {
        ring.wait_full();
        start(ring.offset, piece > 0);
        between(piece);
        wgmma_wait<1>();  // the tile before has been read
        if (piece > 0) release(used_addr);
        used_addr = ring.empty_addr();
        ring.next();
      }
      k_tile = PIECES;
    } else {
#pragma unroll
      for (int piece = 0; piece < PIECES; ++piece) between(piece);
    }
#pragma unroll 1
    for (; k_tile < depth; ++k_tile) {
      ring.wait_full();
      start(ring.offset, k_tile > 0);
      wgmma_wait<1>();
      if (k_tile > 0) release(used_addr);
      used_addr = ring.empty_addr();
      ring.next();
    }
    return used_addr;
  }
  // Until they are done.
  template <class Release>
  __device__ __forceinline__ void finish_tiles(uint32_t used_addr, int depth, Release release) {
    wgmma_wait<0>();
    if (depth > 0) release(used_addr);
    if (depth == 0) clear();
  }
  template <int PIECES, class Ring, class Release, class Between>
  __device__ __forceinline__ void multiply_tiles(Ring& ring, int depth, Release release,
                                                 Between between) {
    finish_tiles(start_tiles<PIECES>(ring, depth, release, between), depth, release);
  }
  template <class Ring, class Release>
  __device__ __forceinline__ void multiply_tiles(Ring& ring, int depth, Release release) {
    multiply_tiles<0>(ring, depth, release, [](int) {});
  }
};
