// DeepGEMM's bf16 GEMM for Hopper, instantiated from its headers as its own compiler at run time
// would (csrc/jit_kernels/impls/sm90_bf16_gemm.hpp), with N and K as constants. Each Choice is what
// its heuristics (csrc/jit_kernels/heuristics/sm90.hpp, of the pinned commit) choose for a cube on
// 132 SMs; they choose alike for B as (K, N) and, with PEER_B_K_MAJOR, as (N, K). Dependent launch
// is on, as deep_gemm.set_pdl(True) has it.
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#include "driver.cuh"

using namespace deep_gemm;

constexpr auto kMajorB = PEER_B_K_MAJOR ? cute::UMMA::Major::K : cute::UMMA::Major::MN;
constexpr int kBlockK = 64, kSms = 132, kTmaThreads = 128, kMostStages = 16;

template <int kSize, int kBlockM, int kBlockN, int kStages, int kCluster>
struct Choice {
  static constexpr int kMathThreads = kBlockM <= 64 ? 128 : 256;
  static constexpr int kThreads = kTmaThreads + kMathThreads;
  // Its get_pipeline_config: C, the barriers of 16 stages, then A and B of each stage.
  static constexpr int kBytes =
      2 * kBlockM * kBlockN + 16 * kMostStages + kStages * 2 * kBlockK * (kBlockM + kBlockN);
  static constexpr auto* kKernel =
      &sm90_bf16_gemm_impl<cute::UMMA::Major::K, kMajorB, 0, kSize, kSize, 1, kBlockM, kBlockN,
                           kBlockK, 128, 128, 128, kStages, kTmaThreads, kMathThreads, kCluster,
                           (kCluster > 1), kSms, GemmType::Normal, false, cutlass::bfloat16_t>;
  static int run(void* A, void* B, void* C, int M, cudaStream_t stream);
};

// A row-major matrix, copied in boxes whose rows have 128 bytes, swizzled.
static int encode(CUtensorMap& map, void* data, int rows, int columns, int box_rows) {
  cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows}, stride[] = {2ull * columns};
  cuuint32_t box[] = {64, (cuuint32_t)box_rows}, steps[] = {1, 1};
  PeerEncoder encoder = peer_encoder();
  if (!encoder) return kNoEncoder;
  CUresult result = encoder(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, stride, box,
                            steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? 0 : kNoTensorMap;
}

template <int kSize, int kBlockM, int kBlockN, int kStages, int kCluster>
int Choice<kSize, kBlockM, kBlockN, kStages, kCluster>::run(void* A, void* B, void* C, int M,
                                                            cudaStream_t stream) {
  CUtensorMap a, b, c;
  if (int code = encode(a, A, M, kSize, kBlockM)) return code;
  if (int code = encode(b, B, kSize, kSize, PEER_B_K_MAJOR ? kBlockN : kBlockK)) return code;
  if (int code = encode(c, C, M, kSize, kBlockM)) return code;
  cudaError_t set =
      cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (set != cudaSuccess) return set;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {kCluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = kSms;
  config.blockDim = kThreads;
  config.dynamicSmemBytes = kBytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = kCluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kKernel, (int*)nullptr, (uint32_t)M, (uint32_t)kSize,
                            (uint32_t)kSize, a, b, c);
}

int launch(void* A, void* B, void* C, int M, int N, int K, cudaStream_t stream) {
  if (M != N || N != K) return kRefused;
  switch (M) {
    case 1024:
      return Choice<1024, 64, 128, 8, 1>::run(A, B, C, M, stream);
    case 2048:
      return Choice<2048, 128, 256, 3, 1>::run(A, B, C, M, stream);
    case 4096:
      return Choice<4096, 256, 128, 3, 2>::run(A, B, C, M, stream);
    case 8192:
      return Choice<8192, 256, 128, 3, 2>::run(A, B, C, M, stream);
    case 16384:
      return Choice<16384, 256, 128, 3, 2>::run(A, B, C, M, stream);
    default:
      return kRefused;
  }
}
