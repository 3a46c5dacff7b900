// Stand-in for the PyTorch header of this name: operators are registered nowhere.
#pragma once
#include <torch/extension.h>

namespace torch {
struct Library {
  template <class... T>
  Library& def(const T&...) {
    return *this;
  }
  template <class... T>
  Library& impl(const T&...) {
    return *this;
  }
};
}  // namespace torch

#define TORCH_LIBRARY(name, m) [[maybe_unused]] static void gemmlab_torch_library(torch::Library& m)
#define TORCH_LIBRARY_IMPL(name, key, m) \
  [[maybe_unused]] static void gemmlab_torch_library_##key(torch::Library& m)
