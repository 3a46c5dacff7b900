// What a compiled kernel calls for shared addresses, matrices and the operations of whole warps.
// Registers come and go by value: a pointer to a kernel's array would make the compiler report
// every access to that array.
#pragma once
#include <cstdint>

// Four 32-bit registers of a lane. Each passes in two registers of this machine.
struct SimRegs4 {
  uint32_t r0, r1, r2, r3;
};
struct SimFloats4 {
  float d0, d1, d2, d3;
};

enum SimMma : unsigned {
  SIM_MMA_F16_K16,
  SIM_MMA_F16_K8,
  SIM_MMA_BF16_K16,
  SIM_MMA_BF16_K8,
  SIM_MMA_TF32_K8,
};

enum SimReduce : unsigned {
  SIM_REDUCE_ADD,
  SIM_REDUCE_MIN,
  SIM_REDUCE_MAX,
  SIM_REDUCE_MIN_SIGNED,
  SIM_REDUCE_MAX_SIGNED,
  SIM_REDUCE_AND,
  SIM_REDUCE_OR,
  SIM_REDUCE_XOR,
};

enum SimWmmaStep : unsigned { SIM_WMMA_LOAD, SIM_WMMA_STORE };

enum SimAtomic : unsigned {
  SIM_ATOMIC_ADD,
  SIM_ATOMIC_MIN,
  SIM_ATOMIC_MAX,
  SIM_ATOMIC_AND,
  SIM_ATOMIC_OR,
  SIM_ATOMIC_XOR,
  SIM_ATOMIC_EXCHANGE,
  SIM_ATOMIC_COMPARE,
  SIM_ATOMIC_REPLACE,  // an exchange of which nobody takes the result: a store
};

enum SimAtomicType : unsigned {
  SIM_ATOMIC_I32,
  SIM_ATOMIC_I64,
  SIM_ATOMIC_U16,
  SIM_ATOMIC_U32,
  SIM_ATOMIC_U64,
  SIM_ATOMIC_F32,
  SIM_ATOMIC_F32X2,
  SIM_ATOMIC_F64,
  SIM_ATOMIC_F16,
  SIM_ATOMIC_F16X2,
  SIM_ATOMIC_BF16,
  SIM_ATOMIC_BF16X2,
};

// A shared address of no array: what a pointer to other memory becomes.
constexpr uint32_t SIM_NO_SHARED_ADDRESS = 0x00fffc00;

#pragma GCC visibility push(default)
extern "C" {
// Not declared const: the array behind the pointer must count as used.
uint32_t sim_shared_address(const void* pointer);
// The other way, for an address of the own block.
void* sim_shared_pointer(uint32_t address);

SimRegs4 sim_ldmatrix(uint32_t row_addr, unsigned matrices, bool transposed, int line);
void sim_stmatrix(uint32_t row_addr, unsigned matrices, bool transposed, SimRegs4 r, int line);
uint32_t sim_movmatrix(uint32_t r, int line);
SimFloats4 sim_mma(SimMma form, SimRegs4 a, uint32_t b0, uint32_t b1, SimFloats4 c, int line);
// All lanes must come to it; it does nothing else.
void sim_wmma(SimWmmaStep step, int line);
// An accumulator is used that nobody has filled.
void sim_wmma_unfilled(bool is_stored);

// Bits in the low end of a word, for operands of any width.
uint64_t sim_atomic(SimAtomic operation, SimAtomicType type, void* address, uint64_t value,
                    uint64_t compare);

uint32_t sim_reduce(unsigned mask, uint32_t value, SimReduce operation, int line);
unsigned sim_active_mask();
// The lanes that are at this call while all others of the warp wait elsewhere or have returned.
unsigned sim_coalesced_mask(int line);
bool sim_elect(unsigned mask, int line);
void sim_setmaxnreg(unsigned registers, bool increase, int line);
}
#pragma GCC visibility pop
