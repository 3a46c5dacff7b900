// Why a launcher refuses: words beside the error code, which the caller reads and shows.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

// Of the last refusal in this library, until it is read.
inline char refusal_text[256] = "";

// return refuse(cudaErrorInvalidValue, "K is %d; it must be a multiple of 8", g.K);
template <class... Values>
cudaError_t refuse(cudaError_t error, const char* format, Values... values) {
  std::snprintf(refusal_text, sizeof refusal_text, format, values...);
  return error;
}
