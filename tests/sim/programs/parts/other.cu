#include "half.cuh"
#include "sizes.h"

static __global__ void scaled(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] *= FACTOR; }

void scale_all(int* out) { scaled<<<SIZE / 32, 32>>>(out); }
