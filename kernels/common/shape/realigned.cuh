// Copies of 16-bit matrices for the copy engine, whose rows begin at multiples of 128 bytes: as
// padded.cuh makes them, 16 bytes a thread.
#pragma once
#include <ptx/grid.cuh>

#include "../elements/half_vec.cuh"
#include "padded.cuh"

// The 32 bits that begin `shift` bits up in low, high. A funnel shift.
__device__ __forceinline__ uint32_t shifted(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>(((uint64_t)high << 32 | low) >> shift);
}

// Eight neighbours a thread, of two matrices one behind the other.
template <class T>
__global__ void __launch_bounds__(PAD_THREADS) realign(Padding<T> a, Padding<T> b) {
  grid_launch_dependents();  // the product, which waits for this grid
  size_t i = (size_t)blockIdx.x * PAD_THREADS + threadIdx.x;
  const size_t a_eights = a.pairs / 4;
  const Padding<T> p = i < a_eights ? a : b;
  if (i >= a_eights) i -= a_eights;
  if (i >= p.pairs / 4) return;
  const size_t row_eights = p.row_pairs(p.columns) / 4, row = i / row_eights;
  const int column = (i - row * row_eights) * 8;
  const T* from = p.from + row * p.columns + column;
  // [words]
  // The eight begin at an even address. Five words of four bytes contain them, and where the first
  // one begins two bytes before them, a funnel shift puts two halves together. The words must not
  // reach over the ends of the matrix: neighbours of the same row follow, and some row went before.
  const bool inside = column + 8 < p.columns && (row > 0 || column > 0);
  if (inside) {
    const size_t address = reinterpret_cast<size_t>(from);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~(size_t)3);
    const uint32_t shift = address % 4 * 8;
    uint32_t w[5];
#pragma unroll
    for (int k = 0; k < 5; ++k) w[k] = k < 4 || shift > 0 ? words[k] : 0;
    const uint4 v = make_uint4(shifted(w[0], w[1], shift), shifted(w[1], w[2], shift),
                               shifted(w[2], w[3], shift), shifted(w[3], w[4], shift));
    store8(p.to + row * p.ld + column, v);
    return;
  }
  // [/words]
#pragma unroll 1
  for (int k = 0; k < 8; ++k)
    p.to[row * p.ld + column + k] = column + k < p.columns ? from[k] : from_float<T>(0.0f);
}

// A product whose A and B have rows at multiples of 16 bytes: they themselves, or copies.
template <class T>
struct RealignedInputs : PaddedInputs<T> {
  using PaddedInputs<T>::PaddedInputs;
  cudaError_t copy(cudaStream_t stream) const {
    const size_t eights = (this->a.pairs + this->b.pairs) / 4;
    const unsigned blocks = (eights + PAD_THREADS - 1) / PAD_THREADS;
    if (blocks == 0) return cudaSuccess;
    return launch(realign<T>, dim3(blocks), dim3(PAD_THREADS), 0, stream, this->a, this->b);
  }
};
