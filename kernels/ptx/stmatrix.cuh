// stmatrix: the inverse of ldmatrix, from sm_90 on.
//
// Lane 8i + r gives the address of row r of matrix i (16 bytes, at a multiple of 16), and every
// lane l holds in r[i], of matrix i:
//   plain    row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1, the first in the low half;
//   _trans   rows 2 (l % 4) and 2 (l % 4) + 1 of column l / 4.
// All 32 lanes must execute it together.
// PTX ISA, "Warp Level Matrix Store Instruction: stmatrix".
#pragma once
#include <cstdint>

__device__ __forceinline__ void stmatrix_x1(uint32_t row_addr, const uint32_t (&r)[1]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row_addr), "r"(r[0])
               : "memory");
}

__device__ __forceinline__ void stmatrix_x2(uint32_t row_addr, const uint32_t (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row_addr),
               "r"(r[0]), "r"(r[1])
               : "memory");
}

__device__ __forceinline__ void stmatrix_x4(uint32_t row_addr, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row_addr),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

__device__ __forceinline__ void stmatrix_x1_trans(uint32_t row_addr, const uint32_t (&r)[1]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row_addr),
               "r"(r[0])
               : "memory");
}

__device__ __forceinline__ void stmatrix_x2_trans(uint32_t row_addr, const uint32_t (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row_addr),
               "r"(r[0]), "r"(r[1])
               : "memory");
}

__device__ __forceinline__ void stmatrix_x4_trans(uint32_t row_addr, const uint32_t (&r)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row_addr),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
}
