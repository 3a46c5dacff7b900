// Stand-in for cuRAND's header of this name: the generators XORWOW and Philox4_32_10 with the
// numbers that cuRAND's own give. Sobol sequences and MRG32k3a are not in it.
#pragma once
#include <cuda_runtime.h>

namespace gemmlab_sim {

#define GEMMLAB_UNCOUNTED __attribute__((noinline, no_sanitize_thread))

// A bit matrix that steps XORWOW's five words, by what it makes of each single bit.
struct XorwowJump {
  uint32_t image[160][5];
};

GEMMLAB_UNCOUNTED inline void xorwow_apply(const XorwowJump& jump, uint32_t (&v)[5]) {
  uint32_t result[5] = {};
  for (int bit = 0; bit < 160; ++bit)
    if (v[bit / 32] >> bit % 32 & 1)
      for (int i = 0; i < 5; ++i) result[i] ^= jump.image[bit][i];
  for (int i = 0; i < 5; ++i) v[i] = result[i];
}

GEMMLAB_UNCOUNTED inline void xorwow_step(uint32_t (&v)[5]) {
  const uint32_t t = v[0] ^ v[0] >> 2;
  for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
  v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

// jump[n]: by 2^n steps.
struct XorwowJumps {
  static constexpr int COUNT = 67 + 32;
  XorwowJump jump[COUNT];

  GEMMLAB_UNCOUNTED XorwowJumps() {
    for (int bit = 0; bit < 160; ++bit) {
      uint32_t v[5] = {};
      v[bit / 32] = 1u << bit % 32;
      xorwow_step(v);
      for (int i = 0; i < 5; ++i) jump[0].image[bit][i] = v[i];
    }
    for (int n = 1; n < COUNT; ++n)
      for (int bit = 0; bit < 160; ++bit) {
        uint32_t v[5];
        for (int i = 0; i < 5; ++i) v[i] = jump[n - 1].image[bit][i];
        xorwow_apply(jump[n - 1], v);
        for (int i = 0; i < 5; ++i) jump[n].image[bit][i] = v[i];
      }
  }
};
// Made before main(): a kernel's threads have small stacks.
inline const XorwowJumps xorwow_jumps;

}  // namespace gemmlab_sim

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

namespace gemmlab_sim {

GEMMLAB_UNCOUNTED inline void start(curandStateXORWOW* state, unsigned long long seed,
                                    unsigned long long sequence, unsigned long long offset) {
  const uint32_t low = uint32_t(seed) ^ 0xaad26b49u, high = uint32_t(seed >> 32) ^ 0xf7dcefddu;
  const uint32_t t0 = 1099087573u * low, t1 = 2591861531u * high;
  uint32_t v[5] = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1,
                   5783321u + t0};
  for (int bit = 0; bit < 32; ++bit) {
    if (sequence >> bit & 1) xorwow_apply(xorwow_jumps.jump[67 + bit], v);
  }
  for (int bit = 0; bit < 64; ++bit) {
    if (offset >> bit & 1) xorwow_apply(xorwow_jumps.jump[bit], v);
  }
  state->d = 6615241u + t1 + t0 + uint32_t(offset) * 362437u;
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
}

inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ull * counter.x, b = 0xCD9E8D57ull * counter.z;
    counter = {uint32_t(b >> 32) ^ counter.y ^ key.x, uint32_t(b),
               uint32_t(a >> 32) ^ counter.w ^ key.y, uint32_t(a)};
    key = {key.x + 0x9E3779B9u, key.y + 0xBB67AE85u};
  }
  return counter;
}
inline void add(uint4& counter, unsigned long long n) {
  const uint64_t low = (uint64_t(counter.y) << 32 | counter.x) + n;
  uint64_t high = uint64_t(counter.w) << 32 | counter.z;
  high += low < n;
  counter = {uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
}

// From 32 or 53 bits to (0, 1], as cuRAND does.
inline float unit(unsigned x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; }
inline double unit(unsigned x, unsigned y) {
  const uint64_t bits = uint64_t(x) ^ uint64_t(y) << 21;
  return bits * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}

#undef GEMMLAB_UNCOUNTED

}  // namespace gemmlab_sim

// `sequence`: of 2^67 numbers, below 2^32 here.
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStateXORWOW* state) {
  if (sequence >> 32)
    sim_not_simulated(
        "curand_init() with a sequence of 2^32 or more | number the sequences from 0 on, as by "
        "thread");
  *state = {};
  gemmlab_sim::start(state, seed, sequence, offset);
}
inline unsigned curand(curandStateXORWOW* state) {
  gemmlab_sim::xorwow_step(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}

inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStatePhilox4_32_10* state) {
  *state = {};
  state->ctr = {0, 0, uint32_t(sequence), uint32_t(sequence >> 32)};
  state->key = {uint32_t(seed), uint32_t(seed >> 32)};
  gemmlab_sim::add(state->ctr, offset / 4);
  state->STATE = unsigned(offset % 4);
  state->output = gemmlab_sim::philox(state->ctr, state->key);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
  const uint4 four = state->output;
  const unsigned all[] = {four.x, four.y, four.z, four.w};
  const unsigned value = all[state->STATE++];
  if (state->STATE == 4) {
    gemmlab_sim::add(state->ctr, 1);
    state->output = gemmlab_sim::philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return value;
}

template <class State>
float curand_uniform(State* state) {
  return gemmlab_sim::unit(curand(state));
}
template <class State>
double curand_uniform_double(State* state) {
  const unsigned x = curand(state), y = curand(state);
  return gemmlab_sim::unit(x, y);
}
template <class State>
float2 curand_normal2(State* state) {
  const float u = gemmlab_sim::unit(curand(state));
  constexpr float TURN = 2.3283064e-10f * (2.0f * 3.1415926535897932f);
  const float v = curand(state) * TURN + TURN / 2, s = std::sqrt(-2.0f * std::log(u));
  return {std::sin(v) * s, std::cos(v) * s};
}
template <class State>
float curand_normal(State* state) {
  if (state->boxmuller_flag) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_flag = 1, state->boxmuller_extra = pair.y;
  return pair.x;
}
template <class State>
double2 curand_normal2_double(State* state) {
  const double u = curand_uniform_double(state), v = 2 * curand_uniform_double(state);
  const double s = std::sqrt(-2 * std::log(u)), pi = 3.1415926535897932;
  return {std::sin(v * pi) * s, std::cos(v * pi) * s};
}
template <class State>
double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_flag_double = 1, state->boxmuller_extra_double = pair.y;
  return pair.x;
}
