// The tensor maps of A, B and C: made by the host, brought into the copy engine's cache by a block.
#pragma once
#include <ptx/tma.cuh>

#include "../launch/tensor_map.cuh"
#include "../store/warp_store.cuh"
#include "operand_boxes.cuh"

struct GemmMaps {
  CUtensorMap a, b, c;
};

// A and B in rows of lda and ldb elements, C in pieces of 16 rows (warpgroup_store.cuh). a_rows: of
// a box of A, fewer where a tile has no more.
template <class S, class T, class TC>
cudaError_t encode_maps(GemmMaps* maps, const T* A, const T* B, const Output<TC>& out, int K,
                        int lda, int ldb, int a_rows = BoxesA<S>::ROWS) {
  cudaError_t error = encode_operand<BoxesA<S>>(&maps->a, A, out.M, K, lda, a_rows);
  if (error != cudaSuccess) return error;
  error = encode_operand<BoxesB<S>>(&maps->b, B, out.N, K, ldb);
  if (error != cudaSuccess) return error;
  return encode_output(&maps->c, out, 16, S::PIECE_COLUMNS);
}

// Brings the maps into the copy engine's cache. Of an empty matrix there is none.
__device__ __forceinline__ void prefetch_maps(const GemmMaps& maps, bool inputs, bool output) {
  if (inputs) tma_prefetch(&maps.a), tma_prefetch(&maps.b);
  if (output) tma_prefetch(&maps.c);
}
