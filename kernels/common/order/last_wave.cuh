// Which tiles of C a team of blocks computes: whole ones, and at the end, where it pays, its part
// of those that would not fill a wave.
#pragma once
#include "divisor.cuh"
#include "stream_k.cuh"

// As Schedule, with two differences: teams instead of blocks, and the cut tiles are the last ones.
// So a team's pieces are its last work, next to each other in time as in C. Each of the `rest` cut
// tiles has an owner, who leaves its first `cut` k tiles to `helpers` others, in equal stretches.
struct LastWave {
  int tiles, depth, teams, rest = 0, cut = 0, helpers = 0;
  int each = 0, extra = 0;                      // k tiles of a helper, and how many are over
  int most_pieces = 3;                          // of a cut tile
  Divisor by_helpers{1}, by_cut{1}, by_row{1};  // the row: of all k tiles that were left
  int waves, longer;  // whole tiles of every team, and how many teams have one more
  int busiest;        // k tiles of time of the team that takes longest

  // price: of a piece that is left in memory, or added there, in k tiles of time, as in Schedule.
  // adding: of a second kernel that adds up all pieces, if there is one (add_last.cuh). The price
  // is then that of the traffic of all pieces, where every team leaves one.
  // Where nothing is cut, as few teams as finish in the same number of waves.
  __host__ LastWave(int tiles, int depth, int most, int price, int adding = 0)
      : tiles(tiles), depth(depth) {
    const int over = tiles % most;
    int least = depth;
    for (int sharing = 1; over > 0 && sharing <= most - over; ++sharing) {
      const int traffic = price * (over + sharing) / most;
      const int cost = adding > 0 ? 0 : (price + 1) / 2 + traffic;
      const int left = (int)(((long long)sharing * depth - over * cost) / (over + sharing));
      const int after = adding > 0 ? adding + traffic : cost * (1 + sharing / over);
      const int time = depth - left + after;
      const long long row = (long long)over * left;
      if (left <= 0 || row < sharing || row * sharing >> 32 != 0 || time >= least) continue;
      least = time, rest = over, cut = left, helpers = sharing;
    }
    if (rest > 0) {
      each = rest * cut / helpers, extra = rest * cut % helpers;
      most_pieces += helpers / rest;
      by_helpers = Divisor(helpers), by_cut = Divisor(cut), by_row = Divisor(rest * cut);
    }
    const int all = ceil_div(tiles, most);
    teams = all == 0 ? 0 : ceil_div(tiles, all);
    if (rest > 0) teams = tiles < most ? rest + helpers : most;
    waves = teams == 0 ? 0 : (tiles - rest) / teams, longer = tiles - rest - waves * teams;
    busiest = tiles / most * depth + (over > 0 ? least : 0);
  }
  __host__ __device__ int slots() const { return most_pieces; }
  // Of the row of k tiles that were left: where a helper's stretch begins, and whose one is in it.
  __device__ int begin(int helper) const { return helper * each + by_helpers(helper * extra); }
  __device__ int helper_of(int x) const {
    return by_row((x + 1u) * helpers - 1);  // fits: the constructor cuts no more
  }
  __device__ int cut_tile(const Work& work) const { return work.tile - (tiles - rest); }
  __device__ int pieces(const Work& work) const {
    const int at = cut_tile(work) * cut;
    return 2 + helper_of(at + cut - 1) - helper_of(at);
  }
  // The number of a team's piece, in the order of k: the last one is the owner's.
  __device__ int piece(const Work& work, int team) const {
    return team < rest ? pieces(work) - 1 : team - rest - helper_of(cut_tile(work) * cut);
  }
  __device__ int count(int team) const {
    const int whole = waves + (team < longer), helper = team - rest;
    if (rest == 0 || helper >= helpers) return whole;
    return whole + (helper < 0 ? 1 : by_cut(begin(helper + 1) - 1) - by_cut(begin(helper)) + 1);
  }
  // The i-th work of a team.
  __device__ Work work(int team, int i) const {
    const int helper = team - rest, first = tiles - rest;
    if (team + i * teams < first) return {team + i * teams, 0, depth};
    if (helper < 0) return {first + team, cut, depth};
    const int from = begin(helper), to = begin(helper + 1);
    const int own = by_cut(from) + i - waves, row = own * cut;
    return {first + own, max(0, from - row), min(cut, to - row)};
  }
};

// Leaves a warp's sums of a tile in memory: this lane's groups of four, 32 groups from one to the
// next.
template <int COUNT>
__device__ __forceinline__ void leave_sums(const float (&acc)[COUNT], float4* to) {
#pragma unroll
  for (int i = 0; i < COUNT / 4; ++i)
    to[i * 32] = make_float4(acc[i * 4], acc[i * 4 + 1], acc[i * 4 + 2], acc[i * 4 + 3]);
}

// Leaves a warp's sums of a tile in memory, unless it is the last of `count` warps to arrive: then
// it returns true, with the sums of all. As add_pieces (stream_k.cuh), where memory and fences are
// explained; but one of the last two pieces need not leave the registers. So that this changes no
// bit, sums are always p0 + (p1 + (p2 + ...)), and two neighbours may change places.
template <int COUNT>
__device__ __forceinline__ bool join_pieces(float (&acc)[COUNT], float4* pieces, int* arrived,
                                            int own, int count, int lane_id) {
  constexpr int GROUPS = COUNT / 4;
  auto arrivals = [&](int more) {
    int before = 0;
    if (lane_id == 0) before = atomicAdd(arrived, more);
    return __shfl_sync(0xffffffffu, before, 0);
  };
  const bool stays = own >= count - 2;
  bool last = stays && arrivals(0) == count - 1;
  if (!last) {
    leave_sums(acc, pieces + own * GROUPS * 32);
    __syncwarp();                       // the piece is written,
    if (lane_id == 0) __threadfence();  // and visible before the arrival is
    last = arrivals(1) == count - 1;
  }
  if (!last) return false;
  if (lane_id == 0) __threadfence();
  __syncwarp();
  if (!stays) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) acc[i] = -0.0f;  // which changes nothing that is added
  }
#pragma unroll 1
  for (int piece = count - 1; piece >= 0; --piece) {
    if (stays && piece == own) continue;
    const float4* from = pieces + piece * GROUPS * 32;
#pragma unroll
    for (int i = 0; i < GROUPS; ++i) {
      const float4 v = from[i * 32];
      acc[i * 4] += v.x, acc[i * 4 + 1] += v.y, acc[i * 4 + 2] += v.z, acc[i * 4 + 3] += v.w;
    }
  }
  return true;
}
