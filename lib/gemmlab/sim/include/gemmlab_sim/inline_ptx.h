// What inline PTX becomes: gemmlab/sim/inline_ptx writes a call of one of these functions for each
// instruction of an asm statement. An instruction that kernels/ptx has is the same function here as
// there; operands come as registers or as the variables that stand for them.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <tuple>
#include <type_traits>

#include "abi_async.h"
#include "abi_cluster.h"
#include "abi_copy.h"
#include "abi_matrix.h"
#include "abi_wgmma.h"

// The functions of kernels/ptx, under a name that a program's own functions cannot have.
namespace gemmlab_ptx {
#include "../ptx/barrier.cuh"
#include "../ptx/cache_policy.cuh"
#include "../ptx/cluster.cuh"
#include "../ptx/cp_async.cuh"
#include "../ptx/fence.cuh"
#include "../ptx/grid.cuh"
#include "../ptx/ldmatrix.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/mma.cuh"
#include "../ptx/stmatrix.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "../ptx/wgmma.cuh"
}  // namespace gemmlab_ptx

#include "inline_ptx_memory.h"
#include "inline_ptx_numbers.h"
#include "inline_ptx_tensor.h"
