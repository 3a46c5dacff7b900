#include "limits.h"

#include <cstdarg>
#include <cstdio>
#include <unordered_map>

#include "fault.h"
#include "operations/host_waits.h"

namespace sim {

LastError last_error;
cudaError_t device_error = cudaSuccess;
int multiprocessors = 0;

namespace {

constexpr int value_of(int attribute) {
#define GEMMLAB_VALUE(name, number, value) \
  if (attribute == number) return value;
  GEMMLAB_DEVICE_ATTRIBUTES(GEMMLAB_VALUE)
#undef GEMMLAB_VALUE
  return -1;
}

constexpr u32 MAX_BLOCK_Z = 64;
constexpr u32 MAX_GRID_X = 0x7fffffff, MAX_GRID_YZ = 65535;
constexpr i64 SHARED = value_of(cudaDevAttrMaxSharedMemoryPerBlock);
constexpr i64 SHARED_OPT_IN = value_of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
constexpr u32 PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16;
static_assert(MAX_THREADS == value_of(cudaDevAttrMaxThreadsPerBlock), "");

// What cudaFuncSetAttribute has set.
struct Attributes {
  i64 max_dynamic = -1;  // -1: not set
  bool non_portable_cluster = false;
};
std::unordered_map<const void*, Attributes> attributes;

i64 static_bytes(const Module& module, const void* kernel) {
  const KernelFacts* facts = module.facts(kernel);
  return facts ? facts->static_bytes : 0;
}

bool is_empty(SimIndex size) { return !size.x || !size.y || !size.z; }

cudaError_t check_block(SimIndex block, const KernelFacts* facts) {
  constexpr cudaError_t ERROR = cudaErrorInvalidValue;
  if (is_empty(block))
    return refuse(ERROR, "the block has %u x %u x %u threads; every size must be at least 1",
                  block.x, block.y, block.z);
  if (block.z > MAX_BLOCK_Z)
    return refuse(ERROR, "blockDim.z is %u, at most %u is allowed; count these threads in x or y",
                  block.z, MAX_BLOCK_Z);
  if (block.x > MAX_THREADS || block.y > MAX_THREADS || volume(block) > MAX_THREADS)
    return refuse(
        ERROR,
        "a block of %u x %u x %u threads is over the limit of %u; use smaller blocks, and "
        "more of them",
        block.x, block.y, block.z, MAX_THREADS);
  if (facts && facts->max_threads && volume(block) > facts->max_threads)
    return refuse(cudaErrorInvalidValue,
                  "a block of %u threads, but the kernel's __launch_bounds__ promises at most %u; "
                  "launch fewer, or raise the bound",
                  u32(volume(block)), facts->max_threads);
  return cudaSuccess;
}

cudaError_t check_grid(SimIndex grid) {
  constexpr cudaError_t ERROR = cudaErrorInvalidValue;
  if (is_empty(grid))
    return refuse(
        ERROR,
        "the grid has %u x %u x %u blocks; every size must be at least 1, so check that M, "
        "N and K are not smaller than the tile",
        grid.x, grid.y, grid.z);
  if (grid.x > MAX_GRID_X)
    return refuse(ERROR, "gridDim.x is %u, at most %u is allowed; let a block do more", grid.x,
                  MAX_GRID_X);
  if (grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ)
    return refuse(
        ERROR,
        "gridDim.%c is %u, at most %u is allowed; count these blocks in x, or let a block "
        "do more",
        grid.y > MAX_GRID_YZ ? 'y' : 'z', grid.y > MAX_GRID_YZ ? grid.y : grid.z, MAX_GRID_YZ);
  return cudaSuccess;
}

cudaError_t check_shared(i64 fixed, size_t dynamic_bytes, const Attributes& set) {
  const i64 dynamic = i64(dynamic_bytes);
  const i64 limit = set.max_dynamic < 0 ? SHARED - fixed : set.max_dynamic;
  if (dynamic >= 0 && dynamic <= limit) return cudaSuccess;
  if (dynamic < 0 || dynamic + fixed > SHARED_OPT_IN)
    return refuse(cudaErrorInvalidValue,
                  "%lld bytes of dynamic and %lld of static shared memory, together at most %lld a "
                  "block are there; use smaller tiles or fewer stages",
                  (long long)dynamic, (long long)fixed, (long long)SHARED_OPT_IN);
  if (set.max_dynamic >= 0)
    return refuse(cudaErrorInvalidValue,
                  "%lld bytes of dynamic shared memory, but cudaFuncSetAttribute has allowed this "
                  "kernel %lld; allow as many as the launch asks for",
                  (long long)dynamic, (long long)limit);
  return refuse(cudaErrorInvalidValue,
                "%lld bytes of dynamic and %lld of static shared memory, together at most %lld "
                "without being asked for; call cudaFuncSetAttribute(kernel, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, %lld) before the launch",
                (long long)dynamic, (long long)fixed, (long long)SHARED, (long long)dynamic);
}

cudaError_t check_cluster(SimIndex cluster, SimIndex grid, const Attributes& set) {
  if (is_empty(cluster))
    return refuse(cudaErrorInvalidClusterSize,
                  "the cluster has %u x %u x %u blocks; every size must be at least 1", cluster.x,
                  cluster.y, cluster.z);
  const u64 blocks = volume(cluster);
  if (blocks > LARGEST_CLUSTER)
    return refuse(
        cudaErrorInvalidClusterSize,
        "a cluster of %u x %u x %u blocks is over the limit of %u (%u on every GPU); use a "
        "smaller one",
        cluster.x, cluster.y, cluster.z, LARGEST_CLUSTER, PORTABLE_CLUSTER);
  if (blocks > PORTABLE_CLUSTER && !set.non_portable_cluster)
    return refuse(
        cudaErrorInvalidClusterSize,
        "a cluster of %u blocks, at most %u without being asked for; use a smaller one, or "
        "call cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeNonPortableClusterSizeAllowed, 1) before the launch",
        u32(blocks), PORTABLE_CLUSTER);
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return refuse(
        cudaErrorInvalidClusterSize,
        "a grid of %u x %u x %u blocks does not consist of clusters of %u x %u x %u; make "
        "each size of the grid a multiple of the cluster's",
        grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
  return cudaSuccess;
}

}  // namespace

cudaError_t refuse(cudaError_t error, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(last_error.reason, sizeof last_error.reason, format, values);
  va_end(values);
  return last_error.error = error;
}

// Names and order as cudaLaunchKernelEx gave them on an H200 (tests/sim/recorded/launches.json).
cudaError_t check_launch(const SimLaunch& launch, const Module& module) {
  const Attributes& set = attributes[launch.kernel];
  const i64 fixed = static_bytes(module, launch.kernel);
  cudaError_t error = check_block(launch.block, module.facts(launch.kernel));
  if (!error) error = check_grid(launch.grid);
  if (!error) error = check_cluster(launch.cluster, launch.grid, set);
  if (!error) error = check_shared(fixed, launch.dynamic_bytes, set);
  return error;
}

cudaError_t set_attribute(const Module& module, const void* kernel, int attribute, int value) {
  Attributes& set = attributes[kernel];
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    set.non_portable_cluster = value != 0;
  } else if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const i64 fixed = static_bytes(module, kernel);
    if (value < 0 || value + fixed > SHARED_OPT_IN)
      return refuse(
          cudaErrorInvalidValue,
          "cudaFuncSetAttribute: %d bytes of dynamic shared memory, at most %lld are there "
          "for this kernel; use smaller tiles or fewer stages",
          value, (long long)(SHARED_OPT_IN - fixed));
    set.max_dynamic = value;
  }
  return cudaSuccess;
}

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

int sim_device_attribute(int* value, int attribute, int device) {
  if (device != 0)
    return sim::refuse(cudaErrorInvalidDevice, "device %d: there is one, number 0", device);
  *value =
      attribute == cudaDevAttrMultiProcessorCount ? sim::multiprocessors : sim::value_of(attribute);
  return cudaSuccess;
}

int sim_last_error(int clear) {
  const cudaError_t error = sim::last_error.error;
  if (clear) sim::last_error = {};
  return error ? error : sim::device_error;
}

int sim_device_error() {
  if (sim_on_device())
    sim::stop_incomplete(
        "cudaDeviceSynchronize() in a kernel, a wait for what it has launched | leave it out, as "
        "CUDA "
        "12 did, and let what needs the results be a kernel launched in cudaStreamTailLaunch",
        __builtin_return_address(0));
  sim::settle_host_waits();
  return sim::device_error;
}

const char* sim_error_name(int error) {
#define GEMMLAB_NAME(name, number, text) \
  if (error == number) return #name;
  GEMMLAB_CUDA_ERRORS(GEMMLAB_NAME)
#undef GEMMLAB_NAME
  return "unrecognized error code";
}

const char* sim_error_string(int error) {
#define GEMMLAB_TEXT(name, number, text) \
  if (error == number) return text;
  GEMMLAB_CUDA_ERRORS(GEMMLAB_TEXT)
#undef GEMMLAB_TEXT
  return "unrecognized error code";
}

}  // extern "C"
#pragma GCC visibility pop
