// kernel<<<grid, block, bytes, stream>>>(arguments), of which gemmlab/sim/program/launches.py makes
//   gemmlab_sim::configured(GEMMLAB_KERNEL(kernel), grid, block, bytes, stream)(arguments).
#pragma once
#include <type_traits>

#include "capture.h"

namespace gemmlab_sim {

template <class T>
struct Tag {
  using type = T;
};

// A kernel that is one function, or all of whose template arguments are given.
template <class T, class... Params>
auto single(Tag<T>, void (*kernel)(Params...)) {
  return kernel;
}

// What may be launched: by its address, by that of the instance for the arguments' types, or by a
// call of its name, where the arguments have to be converted before the instance is known.
template <class Single, class Instance, class Call>
struct Kernel {
  Single single;
  Instance instance;
  Call call;
  const char* name;
};
template <class Single, class Instance, class Call>
Kernel<Single, Instance, Call> kernel(Single single, Instance instance, Call call,
                                      const char* name) {
  return {single, instance, call, name};
}

#define GEMMLAB_KERNEL(...)                                                               \
  gemmlab_sim::kernel(                                                                    \
      [&](auto tag) -> decltype(gemmlab_sim::single(tag, __VA_ARGS__)) {                  \
        return gemmlab_sim::single(tag, __VA_ARGS__);                                     \
      },                                                                                  \
      [&](auto tag) -> decltype(static_cast<typename decltype(tag)::type>(__VA_ARGS__)) { \
        return static_cast<typename decltype(tag)::type>(__VA_ARGS__);                    \
      },                                                                                  \
      [&](auto... arguments) { __VA_ARGS__(arguments...); }, #__VA_ARGS__)

// An argument as the parameter has it; the number 0 is also a pointer.
template <class Param, class Arg>
Param converted(Arg&& argument) {
  if constexpr (std::is_pointer_v<Param> && std::is_integral_v<std::remove_reference_t<Arg>>)
    return reinterpret_cast<Param>(static_cast<uintptr_t>(argument));
  else
    return static_cast<Arg&&>(argument);
}

template <class K>
struct Configured {
  K kernel;
  SimLaunch launch;
  cudaStream_t stream;

  template <class... Args>
  void operator()(Args... arguments) {
    if constexpr (std::is_invocable_v<decltype(kernel.single), Tag<void>>)
      by_address(kernel.single(Tag<void>()), arguments...);
    else if constexpr (std::is_invocable_v<decltype(kernel.instance), Tag<void (*)(Args...)>>)
      by_address(kernel.instance(Tag<void (*)(Args...)>()), arguments...);
    else
      by_name(arguments...);
  }

 private:
  template <class... Params, class... Args>
  void by_address(void (*function)(Params...), Args&... arguments) {
    launch.kernel = reinterpret_cast<const void*>(function);
    if constexpr (sizeof...(Params) == sizeof...(Args)) {
      Call<Params...> call{function, {converted<Params>(arguments)...}};
      launch_in(stream, launch, call);
    } else {
      by_name(arguments...);  // the last parameters have defaults
    }
  }

  template <class... Args>
  void by_name(Args&... arguments) {
    struct Named {
      K kernel;
      std::tuple<Args...> arguments;
      static void run(void* self) {
        const Named& call = *static_cast<const Named*>(self);
        std::apply(call.kernel.call, call.arguments);
      }
    } call{kernel, {arguments...}};
    launch_in(stream, launch, call);
  }
};

// A coordinate such as gridDim.x is a number, too.
template <class T>
dim3 size_of(const T& size) {
  if constexpr (std::is_convertible_v<T, dim3>)
    return size;
  else
    return dim3(static_cast<unsigned>(size));
}

// A kernel's __cluster_dims__ is a size that every launch of it has.
template <class K, class Grid = dim3, class Block = dim3>
Configured<K> configured(K kernel, const Grid& blocks, const Block& threads, size_t bytes = 0,
                         cudaStream_t stream = nullptr, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  SimLaunch launch = launch_of(nullptr, size_of(blocks), size_of(threads), bytes, file, line);
  launch.name = kernel.name;
  return {kernel, launch, stream};
}

}  // namespace gemmlab_sim
