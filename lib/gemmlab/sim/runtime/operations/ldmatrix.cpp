// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements between shared memory and the
// registers of a warp. PTX ISA, "Warp Level Matrix Load Instruction: ldmatrix" and its neighbours.
#include <cstring>

#include "../../include/gemmlab_sim/abi_matrix.h"
#include "memory/access.h"

namespace sim {

namespace {

constexpr u32 ROWS = 8, ROW_BYTES = 16, LOG2_ROW_BYTES = 4;

struct Matrix {
  u16 element[ROWS][ROWS];
};

struct MatrixOperands {
  u32 row_offset = 0;  // of the row that this lane points to
  u32 registers[4] = {};
};

MatrixOperands& operands_of(const Fiber& fiber) {
  return *static_cast<MatrixOperands*>(fiber.wait.operands);
}

// Lane l has row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1, or that of the transposed matrix.
void distribute(const Matrix& matrix, Fiber* fibers, u32 slot, bool transposed) {
  for (u32 lane = 0; lane < WARP; ++lane) {
    const u32 row = lane / 4, column = lane % 4 * 2;
    const u32 first = transposed ? matrix.element[column][row] : matrix.element[row][column];
    const u32 second =
        transposed ? matrix.element[column + 1][row] : matrix.element[row][column + 1];
    operands_of(fibers[lane]).registers[slot] = first | second << 16;
  }
}

Matrix collect(Fiber* fibers, u32 slot, bool transposed) {
  Matrix matrix;
  for (u32 lane = 0; lane < WARP; ++lane) {
    const u32 row = lane / 4, column = lane % 4 * 2;
    const u32 both = operands_of(fibers[lane]).registers[slot];
    (transposed ? matrix.element[column][row] : matrix.element[row][column]) = u16(both);
    (transposed ? matrix.element[column + 1][row] : matrix.element[row][column + 1]) =
        u16(both >> 16);
  }
  return matrix;
}

template <u32 Matrices, bool Transposed>
void execute_load(Worker& worker, Fiber* fibers, u32) {
  for (u32 i = 0; i < Matrices; ++i) {
    Matrix matrix;
    for (u32 row = 0; row < ROWS; ++row) {
      const u32 offset = operands_of(fibers[ROWS * i + row]).row_offset;
      std::memcpy(matrix.element[row], worker.shared().at(offset), ROW_BYTES);
    }
    distribute(matrix, fibers, i, Transposed);
  }
}

template <u32 Matrices, bool Transposed>
void execute_store(Worker& worker, Fiber* fibers, u32) {
  for (u32 i = 0; i < Matrices; ++i) {
    const Matrix matrix = collect(fibers, i, Transposed);
    for (u32 row = 0; row < ROWS; ++row) {
      const u32 offset = operands_of(fibers[ROWS * i + row]).row_offset;
      std::memcpy(worker.shared().at(offset), matrix.element[row], ROW_BYTES);
    }
  }
}

void execute_move(Worker&, Fiber* fibers, u32) {
  const Matrix matrix = collect(fibers, 0, false);
  distribute(matrix, fibers, 0, true);
}

// By log2 of the number of matrices, then plain or transposed.
const Collective LOADS[3][2] = {
    {{"ldmatrix", execute_load<1, false>, true}, {"ldmatrix", execute_load<1, true>, true}},
    {{"ldmatrix", execute_load<2, false>, true}, {"ldmatrix", execute_load<2, true>, true}},
    {{"ldmatrix", execute_load<4, false>, true}, {"ldmatrix", execute_load<4, true>, true}}};
const Collective STORES[3][2] = {
    {{"stmatrix", execute_store<1, false>, true}, {"stmatrix", execute_store<1, true>, true}},
    {{"stmatrix", execute_store<2, false>, true}, {"stmatrix", execute_store<2, true>, true}},
    {{"stmatrix", execute_store<4, false>, true}, {"stmatrix", execute_store<4, true>, true}}};
const Collective MOVE = {"movmatrix", execute_move, true};

// A lane that points to a row accesses its 16 bytes.
u32 access_row(Fiber& fiber, u32 row_addr, Access access, Op op, u32 pc) {
  const u32 offset = on_shared_address(fiber, row_addr, ROW_BYTES, access, pc);
  if (!fiber.worker->launch().traced) return offset;
  record(fiber, make_event(pc, op, LOG2_ROW_BYTES, offset));
  if (access == Access::READ && fiber.worker->journal().has_values())
    keep_value(fiber, fiber.worker->shared().at(offset), ROW_BYTES, pc);
  return offset;
}

void meet_for(const Collective& what, Fiber& fiber, MatrixOperands& operands, u32 pc, int line) {
  fiber.worker->meet(fiber, {pc, line, &what, ~0u, &operands});
}

}  // namespace

}  // namespace sim

extern "C" SimRegs4 sim_ldmatrix(uint32_t row_addr, unsigned matrices, bool transposed, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::MatrixOperands operands;
  if (fiber.lane < sim::ROWS * matrices)
    operands.row_offset =
        sim::access_row(fiber, row_addr, sim::Access::READ, sim::Op::LOAD_MATRIX, pc);
  sim::meet_for(sim::LOADS[matrices / 2][transposed], fiber, operands, pc, line);
  const auto& r = operands.registers;
  return {r[0], r[1], r[2], r[3]};
}

extern "C" void sim_stmatrix(uint32_t row_addr, unsigned matrices, bool transposed, SimRegs4 r,
                             int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  sim::MatrixOperands operands = {0, {r.r0, r.r1, r.r2, r.r3}};
  if (fiber.lane < sim::ROWS * matrices)
    operands.row_offset =
        sim::access_row(fiber, row_addr, sim::Access::WRITE, sim::Op::STORE_MATRIX, pc);
  sim::meet_for(sim::STORES[matrices / 2][transposed], fiber, operands, pc, line);
  // What its row holds is known now that all lanes have come.
  if (fiber.lane < sim::ROWS * matrices && fiber.worker->journal().has_values())
    sim::keep_value(fiber, fiber.worker->shared().at(operands.row_offset), sim::ROW_BYTES, pc);
}

extern "C" uint32_t sim_movmatrix(uint32_t r, int line) {
  sim::Fiber& fiber = *sim::running_fiber();
  sim::MatrixOperands operands = {0, {r}};
  sim::meet_for(sim::MOVE, fiber, operands, fiber.pc_of(__builtin_return_address(0)), line);
  return operands.registers[0];
}

extern "C" uint32_t sim_shared_address(const void* pointer) {
  const sim::Fiber& fiber = *sim::running_fiber();
  const sim::SharedMemory& memory = fiber.worker->shared();
  const size_t offset = memory.offset_of(reinterpret_cast<uintptr_t>(pointer));
  return offset <= memory.bytes() ? sim::u32(offset) : SIM_NO_SHARED_ADDRESS;
}

extern "C" void* sim_shared_pointer(uint32_t address) {
  sim::Fiber& fiber = *sim::running_fiber();
  const sim::u32 pc = fiber.pc_of(__builtin_return_address(0));
  if (sim::rank_of(address, fiber.rank) != fiber.rank ||
      sim::offset_in_block(address) >= fiber.worker->shared().bytes())
    sim::refuse_shared(fiber, 1, sim::Access::READ, pc);
  return fiber.worker->shared().at(address);
}
