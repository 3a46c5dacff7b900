// alexarmbr/matmul-playground: D = A * B + C by the launch function that KERNEL names.
#include "numbers.h"
#include "structs_n_stuff.cuh"

void KERNEL(sgemm_params, KernelLogger&, const unsigned int);

int more(int row, int column) { return whole(row, column, 3); }

int main() {
  half* a = on_device<half>(ROWS, DEPTH, of_a);
  half* b = on_device<half>(DEPTH, COLUMNS, of_b);
  half* c = on_device<half>(ROWS, COLUMNS, more);
  half* d = on_device<half>(ROWS, COLUMNS, zero);
  KernelLogger timer("timer");
  KERNEL({a, b, c, d, 1.0f, 1.0f, ROWS, COLUMNS, DEPTH}, timer, 1);
  return compared(d, row_major, more);
}
