// Stand-in for CUDA's header of this name: types of pointers to driver functions.
#pragma once
#include "cuda.h"

using PFN_cuTensorMapEncodeTiled_v12000 = decltype(&sim_tensor_map_encode_tiled);
using PFN_cuTensorMapEncodeIm2col_v12000 = decltype(&sim_tensor_map_encode_im2col);
