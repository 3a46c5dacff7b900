// Does not compile here: what stands in the way is listed at once.
#include <curand_kernel.h>

#include "own_header.h"  // [own header]

__global__ void random(float* x) {
  curandStateMRG32k3a_t state;    // [curand]
  x[0] = tex2DGrad<float>(0, 0);  // [texture]
}
int main() {
  cudaUserObject_t object;  // [object]
  random<<<1, 1>>>(nullptr);
}
