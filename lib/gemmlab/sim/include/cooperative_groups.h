// Stand-in for CUDA's header of this name: blocks, tiles of a warp, and threads that have come
// together, a cluster's barrier, and a grid's where all blocks are resident: 132 at most.
#pragma once
#include <cuda_runtime.h>

#include "gemmlab_sim/abi_async.h"
#include "gemmlab_sim/abi_cluster.h"

namespace cooperative_groups {

namespace details {
__forceinline__ unsigned thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__forceinline__ unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
// The lane of the n-th bit that is set, from 0.
__forceinline__ int nth_lane(unsigned mask, unsigned n) {
  for (; n; --n) mask &= mask - 1;
  return __ffs(int(mask)) - 1;
}
}  // namespace details

class thread_block {
 public:
  explicit thread_block(uint64_t* room = nullptr) : room_(room) {}
  // Where the warps of a tile leave something for each other; null if it has no such memory.
  uint64_t* room() const { return room_; }
  void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
  unsigned thread_rank() const { return details::thread_number(); }
  unsigned size() const { return details::block_threads(); }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return blockIdx; }
  dim3 thread_index() const { return threadIdx; }
  dim3 group_dim() const { return blockDim; }
  dim3 dim_threads() const { return blockDim; }

 private:
  uint64_t* room_;
};
inline thread_block this_thread_block() { return thread_block(); }

// Shared memory that tiles of more than a warp need to reduce.
template <unsigned Threads = 1024>
struct block_tile_memory {
  uint64_t room[(Threads + 31) / 32];
};
template <unsigned Threads>
thread_block this_thread_block(block_tile_memory<Threads>& memory) {
  return thread_block(memory.room);
}

// Lanes of one warp, numbered in the group from 0.
class warp_lanes {
 public:
  void sync(int line = __builtin_LINE()) const { __syncwarp(mask_, line); }
  unsigned thread_rank() const {
    return unsigned(__popc(mask_ & ((1u << details::thread_number() % 32) - 1)));
  }
  unsigned size() const { return unsigned(__popc(mask_)); }
  unsigned num_threads() const { return size(); }

  template <class T>
  gemmlab_sim::handed_t<T> shfl(T value, unsigned rank, int line = __builtin_LINE()) const {
    return __shfl_sync(mask_, value, details::nth_lane(mask_, rank % size()), 32, line);
  }
  // From a rank that the group does not have comes the lane's own value.
  template <class T>
  gemmlab_sim::handed_t<T> shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank() + delta;
    return shfl(value, rank < size() ? rank : thread_rank(), line);
  }
  template <class T>
  gemmlab_sim::handed_t<T> shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank < delta ? rank : rank - delta, line);
  }
  template <class T>
  gemmlab_sim::handed_t<T> shfl_xor(T value, unsigned bits, int line = __builtin_LINE()) const {
    return shfl(value, thread_rank() ^ bits, line);
  }
  // A bit for each rank.
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    const unsigned lanes = __ballot_sync(mask_, predicate, line);
    unsigned ranks = 0;
    for (unsigned rank = 0; rank < size(); ++rank)
      ranks |= (lanes >> details::nth_lane(mask_, rank) & 1u) << rank;
    return ranks;
  }
  int any(int predicate, int line = __builtin_LINE()) const {
    return __any_sync(mask_, predicate, line);
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    return __all_sync(mask_, predicate, line);
  }
  // A bit for each lane of the warp.
  unsigned lanes() const { return mask_; }

 protected:
  explicit warp_lanes(unsigned mask) : mask_(mask) {}
  unsigned mask_;
};

template <unsigned Size, class Parent = void>
class thread_block_tile : public warp_lanes {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "the simulator's tiles have 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile() : warp_lanes(lanes_of(details::thread_number() % 32)) {}
  // Of what a tile is one is not part of its type where that is void.
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
  unsigned meta_group_rank() const { return details::thread_number() / Size; }
  unsigned meta_group_size() const { return (details::block_threads() + Size - 1) / Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }

 private:
  // Those that a last, incomplete warp has.
  static unsigned lanes_of(unsigned lane) {
    const unsigned left = details::block_threads() - details::thread_number() / 32 * 32;
    const unsigned there = left < 32 ? (1u << left) - 1 : ~0u;
    return (Size == 32 ? ~0u : ((1u << Size % 32) - 1) << lane / Size * Size) & there;
  }
};

// Of several warps of a block, which wait for each other at a named barrier of their own.
template <unsigned Size>
class warps_tile {
  static_assert(Size % 64 == 0 && (Size & (Size - 1)) == 0 && Size <= 1024,
                "a tile of several warps has 64, 128, 256, 512 or 1024 threads");

 public:
  explicit warps_tile(const thread_block& block) : room_(block.room()) {}
  void sync(int line = __builtin_LINE()) const {
    constexpr unsigned NAMED = 15;  // and number 0, which is __syncthreads's
    if (meta_group_rank() >= NAMED)
      sim_not_simulated(
          "a block with more than 15 tiles of several warps | use larger tiles, or smaller blocks");
    sim_bar_sync(1 + meta_group_rank(), Size, line);
  }
  unsigned thread_rank() const { return details::thread_number() % Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned meta_group_rank() const { return details::thread_number() / Size; }
  unsigned meta_group_size() const { return (details::block_threads() + Size - 1) / Size; }
  // A place for each of its warps.
  uint64_t* room() const {
    if (!room_)
      sim_not_simulated(
          "a tile of several warps without memory of its own | give this_thread_block() a "
          "__shared__ block_tile_memory");
    return room_ + meta_group_rank() * (Size / 32);
  }

 private:
  uint64_t* room_;
};

template <unsigned Size, class Parent>
auto tiled_partition(const Parent& parent) {
  if constexpr (Size <= 32)
    return thread_block_tile<Size, Parent>();
  else
    return warps_tile<Size>(parent);
}

// The threads of a warp that execute the call together.
class coalesced_group : public warp_lanes {
 public:
  explicit coalesced_group(unsigned mask) : warp_lanes(mask) {}
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
inline __attribute__((always_inline)) coalesced_group
coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(sim_coalesced_mask(line));
}

// Those of a group for which the predicate or the label is the same as for the caller.
template <class Lanes>
coalesced_group binary_partition(const Lanes& group, bool predicate, int line = __builtin_LINE()) {
  const unsigned those = __ballot_sync(group.lanes(), predicate, line);
  return coalesced_group(predicate ? those : group.lanes() & ~those);
}
template <class Lanes, class Label>
coalesced_group labeled_partition(const Lanes& group, Label label, int line = __builtin_LINE()) {
  return coalesced_group(__match_any_sync(group.lanes(), label, line));
}

// Any of the groups above, as a function takes it that is to work with each of them.
class thread_group {
 public:
  thread_group(const thread_block&) : is_block_(true), lanes_(0) {}
  thread_group(const warp_lanes& group) : is_block_(false), lanes_(group.lanes()) {}
  void sync(int line = __builtin_LINE()) const {
    if (is_block_)
      __syncthreads(line);
    else
      __syncwarp(lanes_.lanes(), line);
  }
  unsigned thread_rank() const {
    return is_block_ ? details::thread_number() : lanes_.thread_rank();
  }
  unsigned size() const { return is_block_ ? details::block_threads() : lanes_.size(); }
  unsigned num_threads() const { return size(); }

 private:
  bool is_block_;
  coalesced_group lanes_;
};
// Tiles of a size that is known when the program runs: 32 threads at most.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size > 32)
    sim_not_simulated(
        "a tile of more than 32 threads whose size is no constant | use "
        "tiled_partition<Size>(block)");
  const unsigned first = parent.thread_rank() / size * size % 32;
  return coalesced_group((size == 32 ? ~0u : (1u << size) - 1) << first);
}

class grid_group {
 public:
  // On a device, too, it stops a kernel that was not launched for it.
  void sync(int line = __builtin_LINE()) const {
    if (!is_valid())
      sim_assertion_failed("this_grid().is_valid(), as after cudaLaunchCooperativeKernel");
    sim_grid_sync(line);
  }
  bool is_valid() const { return sim_is_cooperative(); }
  unsigned long long thread_rank() const {
    return block_rank() * details::block_threads() + details::thread_number();
  }
  unsigned long long block_rank() const {
    return blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  unsigned long long size() const { return num_blocks() * details::block_threads(); }
  unsigned long long num_threads() const { return size(); }
};
inline grid_group this_grid() { return {}; }

class cluster_group {
 public:
  void sync(int line = __builtin_LINE()) const {
    sim_cluster_arrive();
    sim_cluster_wait(line);
  }
  unsigned block_rank() const { return sim_cluster_rank(); }
  unsigned num_blocks() const { return sim_cluster_size(); }
  template <class T>
  T* map_shared_rank(T*, unsigned) const {
    sim_not_simulated(
        "map_shared_rank(), a pointer to another block's shared memory | use inline PTX: mapa, "
        "ld.shared::cluster and st.shared::cluster");
  }
};
inline cluster_group this_cluster() { return {}; }

template <class Group>
void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}

}  // namespace cooperative_groups
