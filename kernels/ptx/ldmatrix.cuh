// ldmatrix: a warp loads 1, 2 or 4 matrices of 8x8 16-bit elements from shared memory, in the
// layout in which mma.sync takes its operands.
//
// A row of 8 elements (16 bytes, at a multiple of 16) may lie anywhere; lane 8i + r gives the
// address of row r of matrix i. The lanes above 8 * count give none, so theirs may be anything.
// Lane l receives in r[i], of matrix i:
//   plain    row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1, the first in the low half;
//   _trans   rows 2 (l % 4) and 2 (l % 4) + 1 of column l / 4.
// All 32 lanes must execute it together.
// PTX ISA, "Warp Level Matrix Load Instruction: ldmatrix".
#pragma once
#include <cstdint>

__device__ __forceinline__ void ldmatrix_x1(uint32_t (&r)[1], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(row_addr)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(row_addr)
               : "memory");
}

// [x4]
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row_addr)
               : "memory");
}
// [/x4]

__device__ __forceinline__ void ldmatrix_x1_trans(uint32_t (&r)[1], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(row_addr)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(row_addr)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row_addr)
               : "memory");
}
