// Division by a number that the host knows, by multiplication: a division takes some twenty
// instructions and a hundred cycles.
#pragma once
#include "../launch/host.cuh"

struct Divisor {
  uint32_t by, magic;

  __host__ explicit Divisor(int by)
      : by(by), magic(by == 1 ? 0 : static_cast<uint32_t>((1ull << 32) / by + 1)) {}
  // magic is 2^32 / by and at most 1 more: the product is too large by at most value / 2^32, which
  // is less than 1, and the quotient by 1 at most. It has to fit into an int.
  __device__ int operator()(uint32_t value) const {
    const uint32_t quotient = static_cast<uint64_t>(value) * magic >> 32;
    if (by == 1) return value;
    return quotient - (static_cast<uint64_t>(quotient) * by > value);
  }
};
