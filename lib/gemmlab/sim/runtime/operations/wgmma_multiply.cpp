// The products and sums of wgmma.
//
// Sums are fp32, by rising k, starting from D. The tensor core's own order and rounding within an
// instruction are not modelled: results are equal to the last bit where sums are exact in any
// order, as those of small integers are.
#include "../../include/gemmlab_sim/half_bits.h"
#include "wgmma.h"

namespace sim {

namespace {

// Four neighbours of a row. The compiler makes one instruction of each operation on them.
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));

// d[16][n] += a[16][16] * b[16][n], in tiles of 4 x 8 that stay in registers.
void multiply_rows(const float* a, const float* b, u32 n, float* d) {
  for (u32 row = 0; row < WARP_ROWS; row += 4) {
    for (u32 column = 0; column < n; column += 8) {
      Four sum[4][2];
      for (u32 i = 0; i < 4; ++i)
        for (u32 j = 0; j < 2; ++j)
          sum[i][j] = *reinterpret_cast<const Four*>(&d[(row + i) * n + column + 4 * j]);
      for (u32 k = 0; k < WGMMA_K; ++k)
        for (u32 j = 0; j < 2; ++j) {
          const Four factor = *reinterpret_cast<const Four*>(&b[k * n + column + 4 * j]);
          for (u32 i = 0; i < 4; ++i) sum[i][j] += a[(row + i) * WGMMA_K + k] * factor;
        }
      for (u32 i = 0; i < 4; ++i)
        for (u32 j = 0; j < 2; ++j)
          *reinterpret_cast<Four*>(&d[(row + i) * n + column + 4 * j]) = sum[i][j];
    }
  }
}

// What a lane's fragments have of its warp's rows. With g = lane / 4, q = lane % 4:
//   d[4j + i]: row g + i / 2 * 8, column 8j + 2q + i % 2
//   a[i], two elements: row g + i % 2 * 8, k = i / 2 * 8 + 2q and the next
template <class Use>
void for_fragment_of_d(u32 lane, u32 n, Use use) {
  for (u32 j = 0; j < n / 8; ++j)
    for (u32 i = 0; i < 4; ++i)
      use(4 * j + i, (lane / 4 + i / 2 * 8) * n + 8 * j + lane % 4 * 2 + i % 2);
}

template <class Format>
void spread_fragment_of_a(u32 lane, const u32* registers, float* a) {
  for (u32 i = 0; i < 4; ++i) {
    float* first = &a[(lane / 4 + i % 2 * 8) * WGMMA_K + i / 2 * 8 + lane % 4 * 2];
    first[0] = Format::widen(u16(registers[i]));
    first[1] = Format::widen(u16(registers[i] >> 16));
  }
}

}  // namespace

void Wgmma::read(const SharedMemory& memory, Operation& operation) {
  const auto unpack = [&](auto format) {
    using Format = decltype(format);
    const u32 n = operation.n();
    operation.b_tile.resize(WGMMA_K * n);
    operation.b->unpack<Format>(memory, 1, n, operation.b_tile.data());
    if (!operation.a) return;
    operation.a_tile.resize(GROUP_WARPS * WARP_ROWS * WGMMA_K);
    operation.a->unpack<Format>(memory, WGMMA_K, 1, operation.a_tile.data());
  };
  if (operation.has(SIM_WGMMA_BFLOAT))
    unpack(gemmlab_sim::BfloatFormat());
  else
    unpack(gemmlab_sim::HalfFormat());
}

// The rows of one warp. Accumulators whose function has returned are no one's: they are left alone.
void Wgmma::multiply(const Operation& operation, const Fiber* fibers, const uintptr_t* lowest) {
  const u32 n = operation.n(), first = fibers->index % GROUP_THREADS;
  float d[WARP_ROWS * 256] = {}, from_registers[WARP_ROWS * WGMMA_K];
  const float* a = from_registers;
  if (operation.a) a = &operation.a_tile[first / WARP * WARP_ROWS * WGMMA_K];
  for (u32 lane = 0; lane < WARP; ++lane) {
    const float* mine = operation.d[first + lane];
    if (operation.has(SIM_WGMMA_ACCUMULATE))
      for_fragment_of_d(lane, n, [&](u32 i, u32 at) { d[at] = mine[i]; });
    if (operation.a) continue;
    const u32* registers = operation.a_registers[first + lane];
    if (operation.has(SIM_WGMMA_BFLOAT))
      spread_fragment_of_a<gemmlab_sim::BfloatFormat>(lane, registers, from_registers);
    else
      spread_fragment_of_a<gemmlab_sim::HalfFormat>(lane, registers, from_registers);
  }
  multiply_rows(a, operation.b_tile.data(), n, d);
  for (u32 lane = 0; lane < WARP; ++lane) {
    float* mine = operation.d[first + lane];
    if (uintptr_t(mine) < lowest[lane]) continue;
    for_fragment_of_d(lane, n, [&](u32 i, u32 at) { mine[i] = d[at]; });
  }
}

}  // namespace sim
