// mma.sync: D = A * B + C by a warp. PTX ISA, "Warp Level Matrix Instructions: mma.sync".
//
// Sums are fp32, by rising k, starting from C. The tensor core adds the products of one instruction
// in an order and with a rounding of its own, which are not modelled: results are equal to the last
// bit where sums are exact in any order, as those of small integers are.
#include "../../include/gemmlab_sim/abi_matrix.h"
#include "../../include/gemmlab_sim/half_bits.h"
#include "engine/worker.h"
#include "memory/access.h"

namespace sim {

namespace {

constexpr u32 MMA_M = 16, MMA_N = 8;

struct MmaOperands {
  u32 a[4], b[2];
  float c[4];
};

MmaOperands& mma_of(const Fiber& fiber) { return *static_cast<MmaOperands*>(fiber.wait.operands); }

template <class Format>
struct Packed {
  static constexpr u32 COUNT = 2;  // elements a register
  static float get(u32 bits, u32 which) { return Format::widen(u16(bits >> 16 * which)); }
};

// A float of which the upper 19 bits are used.
struct Tf32 {
  static constexpr u32 COUNT = 1;
  static float get(u32 bits, u32) { return gemmlab_sim::bits_as<float>(bits & 0xffffe000); }
};

// Parts: groups of 4 * COUNT values of k, 1 or 2. Of a group, lane l has with g = l / 4, q = l % 4
//   of A rows g and g + 8 in registers 0 and 1 (2 and 3 of the second group), k = COUNT * q, ...,
//   of B column g in register 0 (1 of the second group), the same k,
//   of C and D (row g, columns 2q, 2q + 1) and (row g + 8, the same).
template <class Element, u32 Parts>
void execute_mma(Worker&, Fiber* fibers, u32) {
  constexpr u32 COUNT = Element::COUNT, K = 4 * COUNT * Parts;
  float a[MMA_M][K], b[K][MMA_N], d[MMA_M][MMA_N];
  for (u32 lane = 0; lane < WARP; ++lane) {
    const MmaOperands& mine = mma_of(fibers[lane]);
    const u32 g = lane / 4, q = lane % 4;
    for (u32 part = 0; part < Parts; ++part) {
      for (u32 e = 0; e < COUNT; ++e) {
        const u32 k = COUNT * (4 * part + q) + e;
        a[g][k] = Element::get(mine.a[2 * part], e);
        a[g + 8][k] = Element::get(mine.a[2 * part + 1], e);
        b[k][g] = Element::get(mine.b[part], e);
      }
    }
    for (u32 i = 0; i < 4; ++i) d[g + 8 * (i / 2)][2 * q + i % 2] = mine.c[i];
  }
  for (u32 m = 0; m < MMA_M; ++m)
    for (u32 k = 0; k < K; ++k)
      for (u32 n = 0; n < MMA_N; ++n) d[m][n] += a[m][k] * b[k][n];
  for (u32 lane = 0; lane < WARP; ++lane)
    for (u32 i = 0; i < 4; ++i)
      mma_of(fibers[lane]).c[i] = d[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
}

using PackedHalf = Packed<gemmlab_sim::HalfFormat>;
using PackedBfloat = Packed<gemmlab_sim::BfloatFormat>;

// By SimMma.
const Collective MMA[] = {{"mma.sync", execute_mma<PackedHalf, 2>, true},
                          {"mma.sync", execute_mma<PackedHalf, 1>, true},
                          {"mma.sync", execute_mma<PackedBfloat, 2>, true},
                          {"mma.sync", execute_mma<PackedBfloat, 1>, true},
                          {"mma.sync", execute_mma<Tf32, 2>, true}};

}  // namespace

}  // namespace sim

extern "C" SimFloats4 sim_mma(SimMma form, SimRegs4 a, uint32_t b0, uint32_t b1, SimFloats4 c,
                              int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::MmaOperands operands = {{a.r0, a.r1, a.r2, a.r3}, {b0, b1}, {c.d0, c.d1, c.d2, c.d3}};
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::mark(fiber, pc, sim::Mark::MMA);
  fiber.worker->meet(fiber, {pc, line, &sim::MMA[form], ~0u, &operands});
  const auto& d = operands.c;
  return {d[0], d[1], d[2], d[3]};
}
