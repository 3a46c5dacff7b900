// tma_08_any_shape on the host: which tile runs, and its launch. 08_any_shape.cuh includes it
// behind its kernel and its configurations.
#pragma once
#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/host.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/tensor_map.cuh"
#include "../common/shape/realigned.cuh"

namespace tma_08_any_shape {

// [choice]
constexpr int COST[TILES] = {100, 106, 130, 150, 165, 350};  // of an element of C, 64 k deep

// Light tiles come first. If they are enough for the incomplete wave, only light ones are cut; else
// all pieces have the price of whole tiles. Pieces of small tiles cost their second kernel, however
// many they are.
template <class S>
Schedule schedule(const GemmArgs& g) {
  const EdgesFirst<S::BM, S::BN> tiles(g.M, g.N);
  const int most = resident_blocks(), depth = ceil_div(g.K, BK), count = tiles.tiles();
  if constexpr (!S::SMALL)
    return Schedule(count, depth, most, count % most <= tiles.light() ? LIGHT_PRICE : PRICE);
  constexpr int NEVER = 1000000;
  Schedule cut(count, depth, most, 0), whole(count, depth, most, NEVER);
  cut.busiest += ADDING;
  return cut.busiest < whole.busiest ? cut : whole;
}

// The tile asked for, else the one that should take least time, one after the other on each SM. The
// thin one has room for up to 16 rows.
inline int choose(const GemmArgs& g) {
  if (g.config >= 0 && g.config < TILES) return g.config;
  const int room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int best = SMALLEST;
  long long least = 0;
  for (int tile = 0; tile < TILES; ++tile)
    with_tile(tile, [&](auto of) {
      using S = decltype(of);
      if (S::THIN && g.M > LOW_BOX) return;
      const long long cost = (long long)S::BM * S::BN * COST[tile] * schedule<S>(g).busiest;
      if (S::SMEM_BYTES > room || (least > 0 && cost >= least)) return;
      best = tile, least = cost;
    });
  return best;
}
// [/choice]

template <class S>
size_t pieces_bytes(const Schedule& share) {
  return (size_t)share.rest * share.slots() * S::BM * S::BN * sizeof(float);
}

// A tile for a layout of A and B, that of the arguments.
template <class S, int LAYOUT_>
struct Laid : S {
  static constexpr int LAYOUT = LAYOUT_;
  static constexpr bool TURN_B = LAYOUT & TURNED_B;
};

// [run]
template <class T, class TC, class Tile, int LAYOUT>
cudaError_t run(const RealignedInputs<T>& p, cudaStream_t stream) {
  using S = Laid<Tile, LAYOUT>;
  const GemmArgs& g = p.g;
  if (g.layout != LAYOUT) return cudaErrorInvalidValue;
  const T *A = static_cast<const T*>(g.A), *B = static_cast<const T*>(g.B);
  TC* C = static_cast<TC*>(g.C);
  const bool by_engine = is_half<TC> && g.N % 8 == 0 && RealignedInputs<T>::aligned(C);
  const Output<TC> out = {C, g.M, g.N, g.alpha, g.beta, by_engine};
  CUtensorMap map_a, map_low, map_b, map_c;
  cudaError_t error =
      encode_tensor_map(&map_a, A, g.M, g.K, p.lda, BOX, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error =
      encode_tensor_map(&map_low, A, g.M, g.K, p.lda, LOW_BOX, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  const int rows_b = S::TURN_B ? g.N : g.K, columns_b = S::TURN_B ? g.K : g.N;
  error =
      encode_tensor_map(&map_b, B, rows_b, columns_b, p.ldb, BK, LINE, CU_TENSOR_MAP_SWIZZLE_128B);
  if (error != cudaSuccess) return error;
  error = encode_output(&map_c, out, S::WM, S::WN);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC, S>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const Schedule share = schedule<S>(g);
  float4* pieces = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(static_cast<char*>(g.workspace) + pieces_bytes<S>(share));
  if (share.rest > 0 && !S::SMALL)
    error = cudaMemsetAsync(arrived, 0, share.rest * S::WARPS * sizeof(int), stream);
  if (error != cudaSuccess) return error;
  const dim3 grid(share.blocks), block(S::THREADS);
  error = p.copied() ? p.copy(stream) : cudaSuccess;
  if (error != cudaSuccess) return error;
  // The product begins while `realign` still copies, and only its producers wait. The warps that
  // multiply read and write C, pieces and arrived at any time. That is right as long as `realign`
  // reads A and B and writes their copies, nothing else, and as long as it is launched in the usual
  // way: then whatever stands before it in the stream, cudaMemsetAsync here, is complete.
  const auto product = kernel<T, TC, S>;
  error = p.copied() ? launch_dependent(product, grid, block, S::SMEM_BYTES, stream, map_a, map_low,
                                        map_b, map_c, out, share, pieces, arrived)
                     : launch(product, grid, block, S::SMEM_BYTES, stream, map_a, map_low, map_b,
                              map_c, out, share, pieces, arrived);
  if constexpr (S::SMALL) {
    const unsigned groups = share.rest * S::WARPS * (S::WM * S::WN / 128);  // of 16x8
    if (error == cudaSuccess && groups > 0)
      error = launch_dependent(add_cut_tiles<TC, S>, dim3(groups), dim3(32 * ADDERS), 0, stream,
                               out, share, pieces);
  }
  return error;
}
// [/run]

}  // namespace tma_08_any_shape
