// wgmma_14_any_shape on the host: which plan runs, and its launch. 14_any_shape.cuh includes it
// behind its kernel and its plans.
#pragma once
#include "../common/launch/dependent_launch.cuh"
#include "../common/launch/device_attribute.cuh"
#include "../common/launch/shared_memory.cuh"
#include "../common/launch/team_launch.cuh"
#include "../common/shape/realigned.cuh"
#include "../common/shape/transposed.cuh"

namespace wgmma_14_any_shape {

// What the loop multiplies.
template <class S>
GemmArgs product(const GemmArgs& g) {
  return S::TRANSPOSED ? exchanged(g) : g;
}
template <class S>
Snake order_of(const GemmArgs& g) {
  return Snake(ceil_div(g.M, S::CLUSTER * S::BM), ceil_div(g.N, S::BN), S::STRIP);
}
// One block fits on an SM, by its shared memory. Without products nothing keeps the warps of a
// consumer together, and one that is late would miss its turn: then a block has one tile.
template <class S>
LastWave share_of(const GemmArgs& g) {
  const int tiles = order_of<S>(g).tiles();
  const int most = device_attribute(cudaDevAttrMultiProcessorCount) / S::CLUSTER;
  return LastWave(tiles, ceil_div(g.K, S::BK), S::TURNS && g.K == 0 ? max(tiles, most) : most,
                  S::PRICE, S::ADDING);
}

// [choice]
// Cycles that a plan takes, where memory is no limit: of a k tile 1,024 for 128x256, by area for
// the others, in hundredths of that; more where rows of A or B begin within a line of the L2; of a
// tile's end; and of the launch, with the first tile's beginning and the last one's end. Fitted so
// that at the shapes of a recording the fastest plan came out first: none is a time by itself.
constexpr int COST[PLANS] = {121, 136, 205, 143, 244, 132, 127, 179, 129, 151, 135, 450, 130};
constexpr int CROSSING[PLANS] = {9, 0, 94, 37, 110, 0, 0, 16, 21, 40, 4, 144, 21};
constexpr int END[PLANS] = {2500, 4500, 900,  1100, 200,  2200, 2400,
                            900,  1900, 1200, 3200, 1500, 2900};
constexpr int ONCE[PLANS] = {7800, 1500, 4700, 4200,  7800, 6300, 9200,
                             6900, 7200, 9100, 13800, 7100, 1500};
// Of the end of a 128x256 tile whose C the lanes store.
constexpr int BY_LANES = 12700;

// Whether rows of this length begin within a line of 128 bytes. Those of copies (realigned.cuh) do
// not.
inline bool cross_lines(int length) { return length % 8 == 0 && length % 64 != 0; }

// The plan asked for, else the one that should take least time.
inline int choose(const GemmArgs& g) {
  if (g.config >= 0 && g.config < PLANS) return g.config;
  const bool crossing =
      cross_lines(g.layout & TURNED_A ? g.M : g.K) || cross_lines(g.layout & TURNED_B ? g.K : g.N);
  int best = 0;
  double least = 0;
  for (int plan = 0; plan < PLANS; ++plan)
    with_plan(plan, [&](auto of) {
      using S = decltype(of);
      const LastWave share = share_of<S>(product<S>(g));
      const double area = S::BM * S::BN / (128.0 * 256);
      const int percent = COST[plan] + (crossing ? CROSSING[plan] : 0);
      double cycles = share.busiest * area * 1024 * percent / 100;
      cycles += share.waves * (END[plan] + (g.N % 8 != 0 ? BY_LANES * area : 0)) + ONCE[plan];
      if (least == 0 || cycles < least) best = plan, least = cycles;
    });
  return best;
}
// [/choice]

template <class S>
size_t parts(const LastWave& share) {
  return (size_t)share.rest * S::CLUSTER * S::PARTS;
}
template <class S>
size_t pieces_bytes(const LastWave& share) {
  return parts<S>(share) * share.slots() * S::PIECE * sizeof(float4);
}
template <class S>
size_t counters(const LastWave& share) {
  return (S::ADDED ? 0 : parts<S>(share)) + S::steps(share);
}

// A plan for a layout of A and B, that of the arguments. ENGINE: whether the copy engine writes C.
// A kernel has the code of one way only: what is not in the instruction caches comes from memory.
template <class Plan, int LAYOUT_, bool ENGINE_>
struct Laid : Plan {
  static constexpr int LAYOUT = Plan::TRANSPOSED ? exchanged(LAYOUT_) : LAYOUT_;
  static constexpr bool ENGINE = ENGINE_;
  // Whether a box of A may have fewer rows than a tile: only where a tile is one box, whose lines
  // are rows of A.
  static constexpr bool LOW = Plan::ADDED && Plan::CLUSTER == 1 && !(LAYOUT & TURNED_A);
  // Of a stage: where B is K-major, no column too many.
  static constexpr int LOADED_BYTES =
      Plan::A_BYTES + (LAYOUT & TURNED_B ? Plan::BN : Plan::B_COLUMNS) * 128;
};

// Whether what is written of C is to leave the L2 before A and B do. Where all of them fit into
// half of it, which is what is near an SM, C may stay: who reads it next, or writes it anew, finds
// it.
inline bool c_leaves_first(const GemmArgs& g) {
  const double elements = (double)g.M * g.K + (double)g.K * g.N + (double)g.M * g.N;
  return 2 * elements > device_attribute(cudaDevAttrL2CacheSize) / 2;
}

// [run]
template <class T, class TC, class S>
cudaError_t run(const RealignedInputs<T>& p, cudaStream_t stream) {
  const GemmArgs& g = p.g;
  const Output<TC> out = {static_cast<TC*>(g.C),      g.M, g.N, g.alpha, g.beta,
                          S::ENGINE && !S::TRANSPOSED};
  GemmMaps maps;
  cudaError_t error =
      encode_maps<S>(&maps, static_cast<const T*>(g.A), static_cast<const T*>(g.B), out, g.K, p.lda,
                     p.ldb, S::LOW ? box_rows<S>(g.M) : BoxesA<S>::ROWS);
  if constexpr (S::TRANSPOSED && S::ENGINE)
    if (error == cudaSuccess) error = encode_transposed<S::PIECE_COLUMNS>(&maps.c, out);
  if (error != cudaSuccess) return error;
  error = allow_shared_memory(kernel<T, TC, S>, S::SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const LastWave share = share_of<S>(g);
  float4* pieces = static_cast<float4*>(g.workspace);
  int* arrived = reinterpret_cast<int*>(static_cast<char*>(g.workspace) + pieces_bytes<S>(share));
  const size_t count = counters<S>(share);
  if (count > 0) error = cudaMemsetAsync(arrived, 0, count * sizeof(int), stream);
  if (error == cudaSuccess) error = p.copy(stream);
  if (error != cudaSuccess) return error;
  int* begun = arrived + count - S::steps(share);
  error = launch_teams(kernel<T, TC, S>, share.teams, S::CLUSTER, dim3(S::THREADS), S::SMEM_BYTES,
                       stream, maps, out, order_of<S>(g), share, pieces, arrived, begun,
                       c_leaves_first(g));
  if constexpr (S::ADDED) {
    const unsigned groups = parts<S>(share) * (S::PIECE / 32);  // of 16x8
    if (error == cudaSuccess && groups > 0)
      error = launch_dependent(add_last_tiles<TC, S>, dim3(groups), dim3(32 * ADDERS), 0, stream,
                               out, order_of<S>(g), share, pieces);
  }
  return error;
}
// [/run]

}  // namespace wgmma_14_any_shape
