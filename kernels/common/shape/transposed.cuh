// The product that gives the transpose of C: C^T = B^T A^T.
#pragma once
#include "../launch/host.cuh"

// The layout of B^T and A^T, which lie in memory as B and A.
constexpr int exchanged(int layout) {
  return (layout & TURNED_B ? 0 : TURNED_A) | (layout & TURNED_A ? 0 : TURNED_B);
}
// The arguments of the product that gives C's transpose; C is still in rows of the given N.
inline GemmArgs exchanged(const GemmArgs& g) {
  GemmArgs other = g;
  other.A = g.B, other.B = g.A, other.M = g.N, other.N = g.M;
  other.layout = exchanged(g.layout);
  return other;
}
