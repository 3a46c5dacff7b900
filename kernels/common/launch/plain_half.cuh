// The same for a kernel whose matrices have 16-bit elements.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "plain.cuh"
