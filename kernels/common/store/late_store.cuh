// A tile that leaves while the next one is multiplied.
#pragma once
#include "warpgroup_store.cuh"

// COUNT sums of each thread, packed into COUNT / 2 registers of 16-bit pairs until they are stored,
// piece by piece, as the ring takes them: 16 rows of a warp, and Ring::SUMS of each thread.
template <class TC, int COUNT, class Ring = StoreRing<>>
struct LateStore {
  static constexpr int PIECES = COUNT / Ring::SUMS, STEP = Ring::SUMS * 2;  // columns
  Ring ring;
  const CUtensorMap* map;
  uint32_t pairs[COUNT / 2];
  int row, col;
  bool any = false;

  __device__ LateStore(Ring ring, const CUtensorMap* map) : ring(ring), map(map) {}
  // Scaled sums. row, col: of the first one of the warpgroup.
  __device__ __forceinline__ void take(const float (&acc)[COUNT], int row, int col) {
#pragma unroll
    for (int i = 0; i < COUNT / 2; ++i) pairs[i] = pack2<TC>(acc[2 * i], acc[2 * i + 1]);
    this->row = row + threadIdx.x % 128 / 32 * 16, this->col = col, any = true;
  }
  __device__ __forceinline__ void put(int piece) {
    if (any)
      ring.store(map, row, col + piece * STEP, [&](int i) { return pairs[piece * STEP / 4 + i]; });
    if (piece == PIECES - 1) any = false;
  }
  __device__ __forceinline__ void put_all() {
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) put(piece);
  }
};
