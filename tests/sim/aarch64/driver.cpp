// What gemmlab/sim/module.py does, without Python: loads a kernel library, runs its launcher once
// with tracing, and writes C, the counters and the findings. Run by an emulator of the processor.
//   driver RUNTIME KERNEL INPUT OUTPUT
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct GemmArgs {
  void *A, *B, *C;
  int M, N, K;
  float alpha, beta;
  void* workspace;
  int config;
};

static void* find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) std::fprintf(stderr, "%s\n", dlerror()), std::exit(1);
  return symbol;
}

template <class F>
static F function(void* library, const char* name) {
  return reinterpret_cast<F>(find(library, name));
}

static FILE *input, *output;

template <class T>
static std::vector<T> read_array() {
  uint32_t count = 0;
  if (std::fread(&count, 4, 1, input) != 1) std::exit(1);
  std::vector<T> values(count);
  if (count && std::fread(values.data(), sizeof(T), count, input) != count) std::exit(1);
  return values;
}

static void write_array(const void* data, uint32_t count, size_t size) {
  std::fwrite(&count, 4, 1, output);
  std::fwrite(data, size, count, output);
}

int main(int, char** argv) {
  void* runtime = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  void* kernel = runtime ? dlopen(argv[2], RTLD_NOW) : nullptr;
  if (!kernel) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  input = std::fopen(argv[3], "rb");
  output = std::fopen(argv[4], "wb");

  const auto starts = read_array<uint32_t>(), sites = read_array<uint32_t>();
  const auto arrays = read_array<uint32_t>(), kernels = read_array<uint32_t>();
  const auto dynamic_offset = read_array<int64_t>();
  auto problem = read_array<GemmArgs>();
  std::vector<char> matrices[3];
  for (auto& matrix : matrices) matrix = read_array<char>();

  const auto entry = function<int (*)(const void*)>(kernel, "gemmlab_sim_entry");
  const auto describe =
      function<const void* (*)(uintptr_t, const uint32_t*, const uint32_t*, uint32_t, const void*,
                               uint32_t, const void*, uint32_t, int, int64_t)>(
          runtime, "gemmlab_sim_module");
  const void* module = describe(reinterpret_cast<uintptr_t>(entry), starts.data(), sites.data(),
                                uint32_t(starts.size()), arrays.data(), uint32_t(arrays.size() / 2),
                                kernels.data(), uint32_t(kernels.size() / 3), 1, dynamic_offset[0]);
  void** addresses[] = {&problem[0].A, &problem[0].B, &problem[0].C};
  for (int i = 0; i < 3; ++i) {
    *addresses[i] =
        function<void* (*)(size_t, size_t)>(runtime, "gemmlab_sim_allocate")(matrices[i].size(), 0);
    for (size_t at = 0; at < matrices[i].size(); ++at)
      static_cast<char*>(*addresses[i])[at] = matrices[i][at];
  }
  function<void (*)(const void*, int, uint32_t, double, int, uint32_t)>(
      runtime, "gemmlab_sim_begin")(module, 1, 2, 600.0, 132, 0);
  const int code = function<int (*)(int (*)(const void*), const void*)>(
      runtime, "gemmlab_sim_call")(entry, problem.data());

  constexpr size_t ROW = 16 + 6 * 8, FINDING = 80;
  const auto rows = function<uint32_t (*)()>(runtime, "gemmlab_sim_count_rows")();
  std::vector<char> counts(rows * ROW);
  function<void (*)(void*)>(runtime, "gemmlab_sim_counts")(counts.data());
  write_array(problem[0].C, uint32_t(matrices[2].size()), 1);
  write_array(counts.data(), rows, ROW);
  write_array(function<const void* (*)()>(runtime, "gemmlab_sim_findings")(),
              function<uint32_t (*)()>(runtime, "gemmlab_sim_finding_rows")(), FINDING);
  std::fclose(output);
  return code;
}
