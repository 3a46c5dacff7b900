// What the drivers share: small whole numbers, whose products any order of summation gets exactly.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// C is ROWS x COLUMNS, A has DEPTH columns.
#ifndef ROWS
#define ROWS 256
#define COLUMNS 256
#define DEPTH 256
#endif

inline int whole(int row, int column, int salt) { return (row * 7 + column * 3 + salt) % 3 - 1; }

template <class T, class F>
T* on_device(int rows, int columns, F value) {
  std::vector<T> host(size_t(rows) * columns);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      host[size_t(row) * columns + column] = T(float(value(row, column)));
  T* memory = nullptr;
  cudaMalloc(&memory, host.size() * sizeof(T));
  cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

inline int zero(int, int) { return 0; }
inline int of_a(int row, int k) { return whole(row, k, 1); }
inline int of_b(int k, int column) { return whole(k, column, 2); }
inline int of_b_columns(int column, int k) { return of_b(k, column); }

// B, with B_COLUMNS column-major.
template <class T>
T* b_on_device() {
#ifdef B_COLUMNS
  return on_device<T>(COLUMNS, DEPTH, of_b_columns);
#else
  return on_device<T>(DEPTH, COLUMNS, of_b);
#endif
}

// Prints the verdict. at(row, column): where an element of C stands. more: what is added to it.
template <class T, class At, class More>
int compared(const T* memory, At at, More more) {
  std::vector<T> host(size_t(ROWS) * COLUMNS);
  cudaDeviceSynchronize();
  cudaMemcpy(host.data(), memory, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      int sum = more(row, column);
      for (int k = 0; k < DEPTH; ++k) sum += of_a(row, k) * of_b(k, column);
      wrong += !(float(host[at(row, column)]) == float(sum));
    }
  if (wrong)
    printf("%d elements are wrong\n", wrong);
  else
    printf("right\n");
  return 0;
}

inline size_t row_major(int row, int column) { return size_t(row) * COLUMNS + column; }
inline size_t column_major(int row, int column) { return size_t(column) * ROWS + row; }
