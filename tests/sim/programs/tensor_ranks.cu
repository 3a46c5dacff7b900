// Boxes of the copy engine of 1, 3, 4 and 5 dimensions: by inline PTX or by libcu++'s functions to
// shared memory and back, cut at the tensor's edges.
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuda/barrier>
#include <utility>

// libcu++ gives its barrier a constructor, which does nothing.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int COUNT = 4 * 3 * 2 * 2 * 2;
constexpr int SIZES[5] = {12, 5, 3, 3, 3}, BOX[5] = {4, 3, 2, 2, 2};
constexpr int WIDE[3] = {8, 5, 2};  // rows of 32 bytes

struct Place {
  int at[5];
};

template <int Rank>
__device__ void load_ptx(uint32_t to, const CUtensorMap* map, uint32_t bar, const int (&at)[5]) {
  if constexpr (Rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3}], [%2];" ::"r"(to),
        "l"(map), "r"(bar), "r"(at[0]));
  else if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
        "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2]));
  else if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
        "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
        "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
}

template <int Rank>
__device__ void store_ptx(const CUtensorMap* map, uint32_t from, const int (&at)[5]) {
  if constexpr (Rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%2}], [%1];" ::"l"(map),
        "r"(from), "r"(at[0]));
  else if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
            map),
        "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]));
  else if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
            map),
        "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
        "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
}

template <int Rank>
__device__ void load_cde(void* to, const CUtensorMap* map, barrier& bar, const int (&at)[5]) {
  if constexpr (Rank == 1)
    cde::cp_async_bulk_tensor_1d_global_to_shared(to, map, at[0], bar);
  else if constexpr (Rank == 3)
    cde::cp_async_bulk_tensor_3d_global_to_shared(to, map, at[0], at[1], at[2], bar);
  else if constexpr (Rank == 4)
    cde::cp_async_bulk_tensor_4d_global_to_shared(to, map, at[0], at[1], at[2], at[3], bar);
  else
    cde::cp_async_bulk_tensor_5d_global_to_shared(to, map, at[0], at[1], at[2], at[3], at[4], bar);
}

template <int Rank>
__device__ void store_cde(const CUtensorMap* map, const void* from, const int (&at)[5]) {
  if constexpr (Rank == 1)
    cde::cp_async_bulk_tensor_1d_shared_to_global(map, at[0], from);
  else if constexpr (Rank == 3)
    cde::cp_async_bulk_tensor_3d_shared_to_global(map, at[0], at[1], at[2], from);
  else if constexpr (Rank == 4)
    cde::cp_async_bulk_tensor_4d_shared_to_global(map, at[0], at[1], at[2], at[3], from);
  else
    cde::cp_async_bulk_tensor_5d_shared_to_global(map, at[0], at[1], at[2], at[3], at[4], from);
}

template <int Rank, bool ByPtx, bool Waits>
__global__ void copy(const __grid_constant__ CUtensorMap in,
                     const __grid_constant__ CUtensorMap out, float* image, Place place, int bytes,
                     const float* early) {
  __shared__ __align__(1024) float tile[COUNT];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    const uint32_t at =
        static_cast<uint32_t>(__cvta_generic_to_shared(cuda::device::barrier_native_handle(bar)));
    if (ByPtx)
      load_ptx<Rank>(to, &in, at, place.at);
    else
      load_cde<Rank>(tile, &in, bar, place.at);
    token = cuda::device::barrier_arrive_tx(bar, 1, bytes);
  } else {
    token = bar.arrive();
  }
  if (Waits) bar.wait(std::move(token));
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) image[i] = tile[i];
  if (!Waits) bar.wait(std::move(token));
  if (threadIdx.x == 0) {
    if (ByPtx)
      store_ptx<Rank>(&out, static_cast<uint32_t>(__cvta_generic_to_shared(tile)), place.at);
    else
      store_cde<Rank>(&out, tile, place.at);
    cde::cp_async_bulk_commit_group();
    if (early) image[0] = *early;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

static CUtensorMap encode(void* memory, int rank, const int* box_sizes,
                          CUtensorMapSwizzle swizzle) {
  cuuint64_t sizes[5], strides[5];
  cuuint32_t box[5], ones[5];
  uint64_t bytes = 4;
  for (int d = 0; d < rank; ++d) {
    sizes[d] = SIZES[d];
    strides[d] = bytes *= SIZES[d];
    box[d] = box_sizes[d];
    ones[d] = 1;
  }
  CUtensorMap map;
  const CUresult error =
      cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, memory, sizes, strides,
                             box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) printf("refused\n");
  return map;
}

static int product(const int* sizes, int rank) {
  int all = 1;
  for (int d = 0; d < rank; ++d) all *= sizes[d];
  return all;
}

// Prints what came to shared memory and what was stored, for the test to compare.
template <int Rank, bool ByPtx, bool Waits = true>
static void run(Place place, int map_rank = Rank, const int* box = BOX,
                CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, int early = -1) {
  const int whole = product(SIZES, map_rank), part = product(box, map_rank);
  float *in, *out, *image;
  cudaMallocManaged(&in, whole * 4);
  cudaMallocManaged(&out, whole * 4);
  cudaMallocManaged(&image, part * 4);
  for (int i = 0; i < whole; ++i) in[i] = i + 1, out[i] = -1;
  copy<Rank, ByPtx, Waits><<<1, 32>>>(encode(in, map_rank, box, swizzle),
                                      encode(out, map_rank, box, swizzle), image, place, part * 4,
                                      early < 0 ? nullptr : out + early);
  cudaDeviceSynchronize();
  printf("%d", Rank);
  for (int d = 0; d < Rank; ++d) printf(" %d", place.at[d]);
  printf("\n");
  for (int i = 0; i < part; ++i) printf("%g ", image[i]);
  printf("\n");
  for (int i = 0; i < whole; ++i) printf("%g ", out[i]);
  printf("\n");
}

template <bool ByPtx>
static void run_all() {
  for (const Place place : {Place{{4, 1, 1, 1, 1}}, Place{{-4, -1, -1, 2, -1}},
                            Place{{8, 4, 2, -1, 2}}, Place{{12, 0, 0, 0, 0}}}) {
    run<1, ByPtx>(place);
    run<3, ByPtx>(place);
    run<4, ByPtx>(place);
    run<5, ByPtx>(place);
  }
}

int main(int, char** argv) {
  if (!strcmp(argv[1], "ptx")) run_all<true>();
  if (!strcmp(argv[1], "cde")) run_all<false>();
  if (!strcmp(argv[1], "swizzled"))
    run<3, true>({{-4, 1, 1, 0, 0}}, 3, WIDE, CU_TENSOR_MAP_SWIZZLE_32B);
  if (!strcmp(argv[1], "no_wait")) run<3, true, false>({{4, 1, 1, 0, 0}});
  if (!strcmp(argv[1], "other_rank")) run<3, true>({{4, 1, 1, 0, 0}}, 4);
  // An element that the store writes in its second plane, and one beside the box.
  for (const int early : {2 * 60 + 1 * 12 + 4, 2 * 60 + 1 * 12 + 3}) {
    if (strcmp(argv[1], early % 2 ? "read_beside" : "read_early")) continue;
    run<3, true>({{4, 1, 1, 0, 0}}, 3, BOX, CU_TENSOR_MAP_SWIZZLE_NONE, early);
  }
  if (!strcmp(argv[1], "im2col")) {
    const CUresult error = cuTensorMapEncodeIm2col(
        nullptr, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, nullptr, nullptr, nullptr, nullptr, nullptr, 1,
        1, nullptr, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("%d\n", error);
  }
  return 0;
}
