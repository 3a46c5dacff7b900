// Two files, a header in another folder, macros, a library's header that nobody needs, a cluster.
#include <thrust/device_vector.h>

#include "half.cuh"
#include "sizes.h"

int main() {
  int* out;
  cudaMallocManaged(&out, SIZE * sizeof(int));
  clustered<2><<<SIZE / 32, 32>>>(out);
  scale_all(out);
  for (int i = 0; i < SIZE; ++i)
    if (out[i] != FACTOR * (i / 32 % 2)) return 1;
  printf("right\n");
  return 0;
}
