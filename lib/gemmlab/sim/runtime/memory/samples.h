// Requests kept as they were made, so that a reader can look at actual addresses.
//
// Two requests have one shape if their lanes stand in the same way to each other and they cost the
// same. An instruction keeps the first request of each of its first few shapes, and the dearest
// one. Which these are depends on the order within a block and on the blocks' numbers, not on the
// OS threads that ran them.
#pragma once
#include <vector>

#include "banks.h"
#include "types.h"

namespace sim {

struct Request {
  u32 mask;           // active lanes
  u32 address[WARP];  // of a lane that is not active: that of the first active one
};

// The first request of a shape.
struct Sample {
  u32 block = 0, warp = 0;
  u32 time = 0;      // how many requests of the instruction the warp had made in the block
  u32 number = 0;    // ... and how many the block
  u64 requests = 0;  // of this shape
  Cost cost = {0, 0};
  u32 starts = 0;  // a bit for each first address modulo 32 for which the cost is known
  Request request = {};

  bool comes_before(const Sample& other) const {
    return block != other.block ? block < other.block : number < other.number;
  }
};

class Samples {
 public:
  static constexpr u32 SHAPES = 8;

  // The shape of a request, if it is known; its cost then is, too.
  Sample* find(const Request& request);
  // To be called for a request that is not found, as often as it occurs.
  void keep(const Sample& sample);
  // Adds what other blocks made; the order of such calls does not matter.
  void add(const Samples& others);

  // The kept ones, in their order; `requests` is 0 where there are too many shapes to tell.
  std::vector<Sample> list() const;

 private:
  std::vector<Sample> first_;
  Sample dearest_;
  u32 last_ = 0;       // where the newest request was found
  bool full_ = false;  // there are more than SHAPES shapes
};

}  // namespace sim
