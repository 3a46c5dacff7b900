// gau-nernst/learn-cuda: C = A * B by the function that KERNEL names, of elements ELEMENT; with
// B_COLUMNS, B is column-major.
#include <cuda_bf16.h>

#include "numbers.h"

void KERNEL(const ELEMENT*, const ELEMENT*, ELEMENT*, int, int, int);

int main() {
  ELEMENT* a = on_device<ELEMENT>(ROWS, DEPTH, of_a);
  ELEMENT* b = b_on_device<ELEMENT>();
  ELEMENT* c = on_device<ELEMENT>(ROWS, COLUMNS, zero);
  KERNEL(a, b, c, ROWS, COLUMNS, DEPTH);
  return compared(c, row_major, zero);
}
