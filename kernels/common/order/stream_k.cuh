// Which tiles of C a block of a persistent kernel computes, in order: whole tiles, and pieces of
// the tiles that would not fill a wave.
#pragma once
#include "../launch/host.cuh"

// K tiles `begin` to `end - 1` of tile `tile`: the whole tile, or a piece of it.
struct Work {
  int tile, begin, end;
};

// The tiles of an incomplete wave come first. Each of these `rest` tiles has an owner: block b owns
// tile b. The owner leaves its last `cut` k tiles to the other blocks, the helpers. The k tiles
// left by all owners form one row, and each helper takes an equal part of it. Whole tiles follow; a
// block computes every `blocks`-th of them.
struct Schedule {
  int tiles, depth, blocks, rest = 0, cut = 0, helpers = 0;
  int whole, longer;  // whole tiles of a block, and how many blocks have one more
  int busiest;        // time of the block that takes longest, in k tiles

  // depth: k tiles of a tile. most: blocks that run at once. price: time, in k tiles, to write a
  // piece to memory or to add it from there, if all blocks have one; the traffic of fewer pieces
  // takes less. Half the price is added for the latency, which does not depend on their number.
  Schedule(int tiles, int depth, int most, int price)
      : tiles(tiles), depth(depth), blocks(tiles < most ? tiles : most) {
    const int over = tiles % most;
    whole = tiles / most, longer = over;
    int least = depth;  // the time that the tiles of the last wave take
    for (int sharing = 1; over > 0 && sharing <= most - over; ++sharing) {
      const int each = (price + 1) / 2 + price * (over + sharing) / most,
                added = 1 + sharing / over;
      // Owners and helpers finish at the same time, except for the additions.
      const int left = (sharing * depth - over * each) / (over + sharing);
      const int time = depth - left + each * added;
      if (left <= 0 || over * left < sharing || time >= least) continue;
      least = time, rest = over, cut = left, helpers = sharing, longer = 0;
      blocks = tiles < most ? over + sharing : most;
    }
    busiest = whole * depth + (over > 0 ? least : 0);
  }
  // The pieces of one cut tile for which the workspace has room: at least as many as it can have.
  __host__ __device__ int slots() const { return helpers / (rest > 0 ? rest : 1) + 3; }
  __device__ int begin(int helper) const { return helper * (rest * cut) / helpers; }
  __device__ int helper_of(int x) const { return ((x + 1) * helpers - 1) / (rest * cut); }
  __device__ int first_helper(int tile) const { return helper_of(tile * cut); }
  __device__ int pieces(int tile) const {
    return 2 + helper_of((tile + 1) * cut - 1) - first_helper(tile);
  }
  // The number of this block's piece in its tile: 0 for the owner, then in the order of k.
  __device__ int piece(const Work& work) const {
    return work.begin == 0 ? 0 : 1 + (int)blockIdx.x - rest - first_helper(work.tile);
  }
};

// The work of one block: its pieces of cut tiles first, then whole tiles.
struct Queue {
  const Schedule& share;
  int first, from, to, pieces;  // first cut tile; its part of the row; number of pieces

  __device__ explicit Queue(const Schedule& share)
      : share(share), first(blockIdx.x), from(0), to(0), pieces(0) {
    const int helper = first - share.rest;
    if (share.rest == 0 || helper >= share.helpers) return;
    pieces = 1;
    if (helper < 0) return;
    from = share.begin(helper), to = share.begin(helper + 1);
    first = from / share.cut;
    pieces = (to - 1) / share.cut - first + 1;
  }
  __device__ int count() const { return pieces + share.whole + ((int)blockIdx.x < share.longer); }
  __device__ Work operator[](int i) const {
    if (i >= pieces)
      return {share.rest + (int)blockIdx.x + (i - pieces) * share.blocks, 0, share.depth};
    const int kept = share.depth - share.cut, row = (first + i) * share.cut;
    if (to == 0) return {first, 0, kept};
    return {first + i, kept + max(0, from - row), kept + min(share.cut, to - row)};
  }
};

// Writes a warp's sums of a tile to memory, for another block. to: this lane's first group of four
// sums; the lane's next groups follow at distances of 32 groups.
template <int WMITER, int WNITER>
__device__ __forceinline__ void leave_piece(const float (&acc)[WMITER][WNITER][4], float4* to) {
#pragma unroll
  for (int i = 0; i < WMITER * WNITER; ++i) {
    const float* c = acc[i / WNITER][i % WNITER];
    to[i * 32] = make_float4(c[0], c[1], c[2], c[3]);
  }
}

// Writes a warp's sums of a tile to memory, unless it is the last of `count` warps to arrive: that
// warp adds up all pieces and returns true. pieces: this lane's first group of four sums of piece
// 0, the next ones at distances of 32 groups; piece 1 follows. own: the number of the warp's piece.
template <int WMITER, int WNITER>
__device__ __forceinline__ bool add_pieces(float (&acc)[WMITER][WNITER][4], float4* pieces,
                                           int* arrived, int own, int count, int lane_id) {
  constexpr int GROUPS = WMITER * WNITER;
  // The atomic is relaxed. After a fence of the same thread it works as a release, and before one
  // as an acquire, so lane 0, which counts for the warp, executes the fences. __syncwarp orders the
  // accesses of the other lanes with respect to these fences; a shuffle does not.
  auto arrivals = [&](int more) {
    int before = 0;
    if (lane_id == 0) before = atomicAdd(arrived, more);
    return __shfl_sync(0xffffffffu, before, 0);
  };
  // With two pieces, the second one can stay in registers: a + b is b + a.
  bool last = count == 2 && arrivals(0) == 1;
  if (!last) {
    leave_piece(acc, pieces + own * GROUPS * 32);
    __syncwarp();                       // the piece is written,
    if (lane_id == 0) __threadfence();  // and visible before the arrival is
    last = arrivals(1) == count - 1;
  }
  if (!last) return false;
  // The other warps' writes are now visible to the lane that counted, and so to its warp.
  if (lane_id == 0) __threadfence();
  __syncwarp();
  if (count > 2) {  // in the order of k, this piece like the others from memory
#pragma unroll
    for (int i = 0; i < GROUPS * 4; ++i) acc[i / 4 / WNITER][i / 4 % WNITER][i % 4] = 0.0f;
  }
  for (int piece = 0; piece < count; ++piece) {
    if (count == 2 && piece == own) continue;
    const float4* from = pieces + piece * GROUPS * 32;
#pragma unroll
    for (int i = 0; i < GROUPS; ++i) {
      const float4 v = from[i * 32];
      float* c = acc[i / WNITER][i % WNITER];
      c[0] += v.x, c[1] += v.y, c[2] += v.z, c[3] += v.w;
    }
  }
  return true;
}
