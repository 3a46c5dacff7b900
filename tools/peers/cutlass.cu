// CUTLASS's GEMM for Hopper by its collective builders, one configuration a library:
// PEER_TILE_M x PEER_TILE_N x 64, clusters of 2x1, ping-pong or cooperative (PEER_PINGPONG), B as
// (K, N) row-major or, with PEER_B_K_MAJOR, as (N, K). C is not read: the epilogue has no source.
#include "cute/tensor.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"
#include "driver.cuh"

using namespace cute;

using Element = cutlass::bfloat16_t;
using RowMajor = cutlass::layout::RowMajor;
#if PEER_B_K_MAJOR
using LayoutB = cutlass::layout::ColumnMajor;
#else
using LayoutB = RowMajor;
#endif
#if PEER_PINGPONG
using MainSchedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using EndSchedule = cutlass::epilogue::TmaWarpSpecialized;
#else
using MainSchedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using EndSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
#endif
using CtaTile = Shape<Int<PEER_TILE_M>, Int<PEER_TILE_N>, _64>;
using Cluster = Shape<_2, _1, _1>;
using Sm90 = cutlass::arch::Sm90;
using TensorOp = cutlass::arch::OpClassTensorOp;
constexpr int kAligned = 8;        // elements of 16 bytes
constexpr bool kDependent = true;  // dependent launch, as the steps have it, too

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    Sm90, TensorOp, CtaTile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
    void, RowMajor, kAligned, Element, RowMajor, kAligned, EndSchedule>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    Sm90, TensorOp, Element, RowMajor, kAligned, Element, LayoutB, kAligned, float, CtaTile,
    Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    MainSchedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

static cutlass::KernelHardwareInfo hardware() {
  int device = 0;
  cudaGetDevice(&device);
  return cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
}

int launch(void* A, void* B, void* C, int M, int N, int K, cudaStream_t stream) {
  static const cutlass::KernelHardwareInfo info = hardware();
  auto a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(M, K, 1));
  auto b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(N, K, 1));
  auto d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, make_shape(M, N, 1));
  typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                     {M, N, K, 1},
                                     {(Element*)A, a, (Element*)B, b},
                                     {{1.0f, 0.0f}, nullptr, {}, (Element*)C, d},
                                     info};
  arguments.scheduler.max_swizzle_size = 8;
  Gemm gemm;
  if (Gemm::can_implement(arguments) != cutlass::Status::kSuccess) return kRefused;
  if (Gemm::get_workspace_size(arguments) != 0) return kRefused;
  if (gemm.initialize(arguments, nullptr, stream) != cutlass::Status::kSuccess) return kRefused;
  if (gemm.run(stream, nullptr, kDependent) != cutlass::Status::kSuccess) return kRefused;
  return cudaGetLastError();
}
