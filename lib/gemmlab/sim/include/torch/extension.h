// Stand-in for PyTorch's header of this name: as much as lets a file compile whose kernels are
// called alone (lab.sim.load). Its host functions are compiled too; a tensor in them holds nothing.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace gemmlab_torch {
[[noreturn]] inline void missing(const char* what) {
  printf("%s is PyTorch's, which the simulator does not have; call the kernel alone\n", what);
  exit(2);
}
}  // namespace gemmlab_torch

namespace c10 {
enum class ScalarType {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  BFloat16,
  Float8_e4m3fn,
  Float8_e5m2,
  Bool,
  Undefined
};
enum class DeviceType { CPU, CUDA };
using Half = __half;
using BFloat16 = __nv_bfloat16;
template <class T>
using optional = std::optional<T>;
inline std::ostream& operator<<(std::ostream& out, ScalarType) { return out; }

struct Device {
  Device(DeviceType, int = 0) {}
  bool is_cuda() const { return true; }
  int index() const { return 0; }
};

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType) {}
  TensorOptions dtype(ScalarType) const { return *this; }
  TensorOptions device(Device) const { return *this; }
  TensorOptions device(DeviceType, int = 0) const { return *this; }
  TensorOptions requires_grad(bool) const { return *this; }
  ScalarType dtype() const { return ScalarType::Undefined; }
};
inline std::ostream& operator<<(std::ostream& out, const TensorOptions&) { return out; }
}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Device;
using c10::DeviceType;
using c10::Half;
using c10::ScalarType;
using c10::TensorOptions;
constexpr auto kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
constexpr auto kChar = ScalarType::Char, kInt8 = ScalarType::Char;
constexpr auto kInt = ScalarType::Int, kInt32 = ScalarType::Int;
constexpr auto kLong = ScalarType::Long, kInt64 = ScalarType::Long;
constexpr auto kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr auto kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
constexpr auto kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
constexpr auto kBFloat16 = ScalarType::BFloat16, kBool = ScalarType::Bool;
constexpr auto kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr auto kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr auto kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;

template <class T>
struct Accessor {
  T& operator[](int64_t) const { gemmlab_torch::missing("TensorAccessor"); }
};
struct Item {
  template <class T>
  T to() const {
    gemmlab_torch::missing("Scalar::to");
  }
};

struct Tensor {
  int64_t size(int64_t) const { gemmlab_torch::missing("Tensor::size"); }
  int64_t stride(int64_t) const { gemmlab_torch::missing("Tensor::stride"); }
  std::vector<int64_t> sizes() const { gemmlab_torch::missing("Tensor::sizes"); }
  int64_t numel() const { gemmlab_torch::missing("Tensor::numel"); }
  int64_t dim() const { gemmlab_torch::missing("Tensor::dim"); }
  int64_t ndimension() const { gemmlab_torch::missing("Tensor::ndimension"); }
  void* data_ptr() const { gemmlab_torch::missing("Tensor::data_ptr"); }
  template <class T>
  T* data_ptr() const {
    gemmlab_torch::missing("Tensor::data_ptr");
  }
  const void* const_data_ptr() const { return data_ptr(); }
  TensorOptions options() const { return {}; }
  ScalarType scalar_type() const { return ScalarType::Undefined; }
  ScalarType dtype() const { return ScalarType::Undefined; }
  Device device() const { return DeviceType::CUDA; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool is_contiguous() const { return true; }
  Tensor contiguous() const { return *this; }
  Tensor to(ScalarType) const { return *this; }
  Tensor to(Device) const { return *this; }
  Tensor cpu() const { return *this; }
  Tensor cuda() const { return *this; }
  Tensor view(std::initializer_list<int64_t>) const { return *this; }
  std::tuple<Tensor, Tensor> sort(int64_t = -1, bool = false) const {
    gemmlab_torch::missing("Tensor::sort");
  }
  std::tuple<Tensor, Tensor> sort(bool, int64_t, bool) const { return sort(); }
  Tensor index_select(int64_t, const Tensor&) const {
    gemmlab_torch::missing("Tensor::index_select");
  }
  template <class T, int Dimensions>
  Accessor<T> accessor() const {
    gemmlab_torch::missing("Tensor::accessor");
  }
  // A number of any type, or the one that is asked for.
  Item item() const;
  template <class T>
  T item() const {
    gemmlab_torch::missing("Tensor::item");
  }
};

inline Item Tensor::item() const { gemmlab_torch::missing("Tensor::item"); }

using IntArrayRef = std::vector<int64_t>;
#define GEMMLAB_TORCH_MAKES(name)                        \
  template <class Sizes>                                 \
  Tensor name(const Sizes&, const TensorOptions& = {}) { \
    return {};                                           \
  }                                                      \
  inline Tensor name(std::initializer_list<int64_t>, const TensorOptions& = {}) { return {}; }
GEMMLAB_TORCH_MAKES(empty)
GEMMLAB_TORCH_MAKES(zeros)
GEMMLAB_TORCH_MAKES(ones)
#undef GEMMLAB_TORCH_MAKES
inline Tensor empty_like(const Tensor&, const TensorOptions& = {}) { return {}; }
inline Tensor zeros_like(const Tensor&, const TensorOptions& = {}) { return {}; }
template <class T>
Tensor tensor(const T&, const TensorOptions& = {}) {
  return {};
}
inline Tensor max(const Tensor& from) { return from; }
inline std::tuple<Tensor, Tensor> max(const Tensor&, int64_t, bool = false) {
  gemmlab_torch::missing("torch::max");
}
}  // namespace at

namespace torch {
using namespace at;
}  // namespace torch

namespace pybind11 {
struct module_ {
  template <class... T>
  module_& def(const T&...) {
    return *this;
  }
};
struct arg {
  arg(const char*) {}
  arg none(bool = true) const { return *this; }
  template <class T>
  arg operator=(const T&) const {
    return *this;
  }
};
}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, m) \
  [[maybe_unused]] static void gemmlab_torch_module(pybind11::module_& m)
#define TORCH_CHECK(condition, ...) \
  do {                              \
    if (!(condition)) abort();      \
  } while (0)
