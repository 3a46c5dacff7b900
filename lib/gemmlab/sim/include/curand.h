// Stand-in for cuRAND's header of this name: pseudo-random numbers made by the host. Their
// distribution is the one that is asked for; they are not the numbers that cuRAND's own order of
// its generators gives. Quasi-random generators are refused.
#pragma once
#include <cuda_runtime.h>

#include <random>

#define CURAND_H_  // by which other headers see that cuRAND's was included

enum curandStatus_t : int {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
enum curandRngType_t : int {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
};
enum curandOrdering_t : int {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_QUASI_DEFAULT = 201,
};
struct curandGenerator_st {
  std::mt19937_64 engine;
};
using curandGenerator_t = curandGenerator_st*;
using curandRngType = curandRngType_t;
using curandStatus = curandStatus_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (type >= CURAND_RNG_QUASI_DEFAULT) {
    sim_refuse(cudaErrorNotSupported, "the simulator has no quasi-random generators of cuRAND's");
    return CURAND_STATUS_TYPE_ERROR;
  }
  *generator = new curandGenerator_st();
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  generator->engine.seed(seed);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t, unsigned) {
  return CURAND_STATUS_TYPE_ERROR;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  generator->engine.discard(offset);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }

namespace gemmlab_sim {
template <class T, class Next>
curandStatus_t fill_with(T* values, size_t count, Next next) {
  const OpenMemory open;
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(next());
  return CURAND_STATUS_SUCCESS;
}
// 1 is among them, 0 is not.
template <class T>
curandStatus_t fill_uniform(curandGenerator_t generator, T* values, size_t count) {
  std::uniform_real_distribution<T> numbers(0, 1);
  return fill_with(values, count, [&] { return 1 - numbers(generator->engine); });
}
template <class T>
curandStatus_t fill_normal(curandGenerator_t generator, T* values, size_t count, T mean, T width) {
  std::normal_distribution<T> numbers(mean, width);
  return fill_with(values, count, [&] { return numbers(generator->engine); });
}
}  // namespace gemmlab_sim

inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* values, size_t count) {
  return gemmlab_sim::fill_with(values, count, [&] { return generator->engine() >> 32; });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* values,
                                            size_t count) {
  return gemmlab_sim::fill_uniform(generator, values, count);
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* values,
                                                  size_t count) {
  return gemmlab_sim::fill_uniform(generator, values, count);
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* values, size_t count,
                                           float mean, float width) {
  return gemmlab_sim::fill_normal(generator, values, count, mean, width);
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* values,
                                                 size_t count, double mean, double width) {
  return gemmlab_sim::fill_normal(generator, values, count, mean, width);
}
