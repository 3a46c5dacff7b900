// Which tiles of C a block computes, one after the other, when all blocks are there from the
// beginning: whole tiles, and pieces of those that would not fill a wave.
#pragma once
#include "../launch/host.cuh"

// K tiles begin to end of a tile, whole or a piece of it.
struct Work {
  int tile, begin, end;
};

// The tiles of an incomplete wave come first. Each of these `rest` tiles has an owner, block b of
// tile b, who leaves its last `cut` k tiles to the other blocks, the helpers. The k tiles that were
// left stand in one row, and each helper takes an equal stretch of it. Whole tiles follow, every
// blocks-th for a block.
struct Schedule {
  int tiles, depth, blocks, rest = 0, cut = 0, helpers = 0;
  int whole, longer;  // whole tiles of a block, and how many blocks have one more
  int busiest;        // k tiles of time of the block that takes longest

  // depth: k tiles of a tile. most: blocks that run at once. price: the traffic of a piece that is
  // left in memory, or added there, in k tiles of time, if all blocks have one; of fewer it is
  // less. The way takes half as much more, however few they are.
  Schedule(int tiles, int depth, int most, int price)
      : tiles(tiles), depth(depth), blocks(tiles < most ? tiles : most) {
    const int over = tiles % most;
    whole = tiles / most, longer = over;
    int least = depth;  // the time that the tiles of the last wave take
    for (int sharing = 1; over > 0 && sharing <= most - over; ++sharing) {
      const int each = (price + 1) / 2 + price * (over + sharing) / most,
                added = 1 + sharing / over;
      // Owners and helpers are done at the same time, but for what is added.
      const int left = (sharing * depth - over * each) / (over + sharing);
      const int time = depth - left + each * added;
      if (left <= 0 || over * left < sharing || time >= least) continue;
      least = time, rest = over, cut = left, helpers = sharing, longer = 0;
      blocks = tiles < most ? over + sharing : most;
    }
    busiest = whole * depth + (over > 0 ? least : 0);
  }
  // Of a tile that is cut: what there is room for, in memory, at most.
  __host__ __device__ int slots() const { return helpers / (rest > 0 ? rest : 1) + 3; }
  __device__ int begin(int helper) const { return helper * (rest * cut) / helpers; }
  __device__ int helper_of(int x) const { return ((x + 1) * helpers - 1) / (rest * cut); }
  __device__ int first_helper(int tile) const { return helper_of(tile * cut); }
  __device__ int pieces(int tile) const {
    return 2 + helper_of((tile + 1) * cut - 1) - first_helper(tile);
  }
  // The number of this block's piece: 0 for the owner, then in the order of k.
  __device__ int piece(const Work& work) const {
    return work.begin == 0 ? 0 : 1 + (int)blockIdx.x - rest - first_helper(work.tile);
  }
};

// The work of one block.
struct Queue {
  const Schedule& share;
  int first, from, to, pieces;  // its pieces of cut tiles: of tile `first` on; where in the row

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

// Leaves a warp's sums of a tile in memory, unless it is the last of `count` warps to arrive: then
// it returns true, with the sums of all. pieces: this lane's first group of four; the warp's others
// are 32 further each, and the other warps' behind them. own: which of the pieces is this warp's.
template <int WMITER, int WNITER>
__device__ __forceinline__ bool add_pieces(float (&acc)[WMITER][WNITER][4], float4* pieces,
                                           int* arrived, int own, int count, int lane_id) {
  constexpr int GROUPS = WMITER * WNITER;
  // The atomic is relaxed. With a fence of the same thread before it, it releases, and with one
  // behind it, it acquires; so lane 0, which counts for the warp, has the fences. __syncwarp orders
  // what the other lanes do against them, a shuffle does not.
  auto arrivals = [&](int more) {
    int before = 0;
    if (lane_id == 0) before = atomicAdd(arrived, more);
    return __shfl_sync(0xffffffffu, before, 0);
  };
  // Of two pieces, the second need not leave the registers: a + b is b + a.
  bool last = count == 2 && arrivals(0) == 1;
  if (!last) {
    float4* to = pieces + own * GROUPS * 32;
#pragma unroll
    for (int i = 0; i < GROUPS; ++i) {
      const float* c = acc[i / WNITER][i % WNITER];
      to[i * 32] = make_float4(c[0], c[1], c[2], c[3]);
    }
    __syncwarp();                       // the piece is written,
    if (lane_id == 0) __threadfence();  // and visible before the arrival is
    last = arrivals(1) == count - 1;
  }
  if (!last) return false;
  // What the others wrote is visible to the lane that counted, and so to the warp.
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
